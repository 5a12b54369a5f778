#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: run.sh SANITIZER FINDING PROGRAM [ARGUMENT...]
# Runs a program that was compiled with SANITIZER (thread, address or undefined). Without a FINDING it
# must end with 0 and say nothing on standard error; else it must fail and report what the extended
# regular expression FINDING describes, in one of its lines.
set -u
sanitizer=$1 finding=$2
shift 2
export TSAN_OPTIONS=halt_on_error=1 ASAN_OPTIONS=halt_on_error=1:detect_leaks=1
export UBSAN_OPTIONS=halt_on_error=1

# ThreadSanitizer of GCC 12 cannot place its shadow where the kernel randomises more than 28 bits.
if [ "$sanitizer" = thread ] &&
  [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)" -gt 28 ]; then
  if ! setarch -R true; then
    echo "skipped: addresses are randomised by more bits than ThreadSanitizer allows" >&2
    exit 77
  fi
  set -- setarch -R "$@"
fi

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
reported=$folder/reported
status=0
(cd "$folder" && "$@") 2>"$reported" || status=$?
cat "$reported" >&2

if [ -z "$finding" ]; then
  if [ "$status" -ne 0 ] || [ -s "$reported" ]; then
    echo "expected silence and status 0; status $status"
    exit 1
  fi
elif [ "$status" -eq 0 ] || ! grep -qE "$finding" "$reported"; then
  echo "expected a report of '$finding' and a failure; status $status"
  exit 1
fi
