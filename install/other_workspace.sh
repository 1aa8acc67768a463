#!/usr/bin/env bash
# other_workspace.sh: checks that another Bazel workspace can use Quadrille. The workspace has Quadrille as a local
# repository, without this .bazelrc. The check analyzes an application there that has its own schedule.
set -euo pipefail
tree=$(dirname "$(readlink -f "$0")")/..
tree=$(readlink -f "$tree")
work=$(mktemp -d)
stop() {
  (cd "$work/app" && bazel --output_base="$work/base" shutdown) || true
  chmod -R u+w "$work"
  rm -rf "$work"
}
trap stop EXIT
mkdir "$work/app"
cd "$work/app"
cat >WORKSPACE <<EOT
local_repository(name = "quadrille", path = "$tree")

load("@quadrille//third_party:repositories.bzl", "quadrille_repositories")

quadrille_repositories("$tree")
EOT
cat >BUILD <<'EOT'
load("@quadrille//emitted:schedule.bzl", "quadrille_schedule")

quadrille_schedule(name = "mine", algorithm = "factor", collective = "alltoall", nodes = "any")

cc_binary(name = "app", srcs = ["app.c"], deps = [":mine", "@quadrille//runtime:openmpi"])
EOT
touch app.c
# Checks the sources only. They compile as in this tree, except for the C++ standard, which third_party/cpp20.bzl sets.
bazel --output_base="$work/base" build --nobuild --noshow_progress --ui_event_filters=-info --show_result=0 //:app
bazel --output_base="$work/base" aquery --noshow_progress --ui_event_filters=-info 'mnemonic(CppCompile, deps(@quadrille//schedule:text))' >actions
grep -q -- '-std=c++20' actions || { echo "other_workspace.sh: C++20 is not asked for" >&2; exit 1; }
