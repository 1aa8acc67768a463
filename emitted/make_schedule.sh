#!/usr/bin/env bash
# make_schedule.sh GENERATOR VERIFIER NAME FOLDER 'CHECK ARGUMENTS' PROGRAM PROOF GENERATE ARGUMENTS...
#
# PROGRAM and PROOF are files of the user's own, or empty.
# Makes NAME.qs, NAME.check.txt, NAME.h and NAME.c in FOLDER, or fails and prints the reason. Never emits a schedule
# that the verifier does not accept. Tested by //emitted:refused_test.
set -euo pipefail
generator=$1 verifier=$2 name=$3 folder=$4 check=$5 program=$6 proof=$7
shift 7
schedule=$folder/$name.qs certificate=$folder/$name.qs.certificate
# The certificate is needed only here.
trap 'rm -f "$certificate" "$certificate.new"' EXIT
[ -z "$proof" ] || "$verifier" prove --program "$program" --proof "$proof" --certificate "$certificate.new" >&2
"$generator" generate "$@" ${program:+--program "$program"} ${proof:+--proof "$certificate.new"} --out "$schedule" >/dev/null
verify() {
  "$verifier" check "$schedule" "$@" >>"$folder/$name.check.txt" && return
  cat "$folder/$name.check.txt" >&2
  rm -f "$schedule" "$folder/$name.check.txt"
  exit 1
}
rm -f "$folder/$name.check.txt"
# A schedule for any nodes must be proven. If the call names nodes, it is checked on these too.
[[ " $* " != *" --nodes any "* ]] || verify
# shellcheck disable=SC2086 # the check's arguments are several words
[[ " $* " == *" --nodes any "* && -z $check ]] || verify $check
"$generator" emit "$schedule" --out "$folder" >/dev/null
