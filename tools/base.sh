# Defines default_base, for scripts that source this file. It prints the commit where this branch left its upstream or
# the main branch, or else the commit before HEAD.
default_base() {
  local other left
  for other in '@{upstream}' origin/HEAD origin/main main; do
    left=$(git merge-base HEAD "$other" 2>/dev/null) || continue
    [ "$left" = "$(git rev-parse HEAD)" ] || { echo "$left" && return; }
  done
  git rev-parse -q --verify HEAD~1 || git rev-parse HEAD
}
