# SPDX-License-Identifier: Apache-2.0
# What .ci/run and .ci/all are made of: parts that run one after the other, each with its output in a
# log; a part that fails does not stop the others. finish() prints where the time went and, last, the
# sum over all tests, where a part that is no test suite counts as one.
set -uo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 1

readonly logs=$PWD/build/ci
readonly minutes=${CREEK_CI_MINUTES:-86} # by then the sum is printed, whatever hangs
readonly jobs=${CREEK_JOBS:-$(nproc)}
readonly hang_seconds=${CREEK_CI_HANG_SECONDS:-270} # less than a test may take
passed=0
failed=0
skipped=0
spent=() # a line a part: wall seconds, CPU seconds, name

# timed NAME COMMAND...: runs a command, notes its wall and CPU seconds.
timed() {
  local name=$1 start=$SECONDS status=0 TIMEFORMAT='%U %S' cpu
  shift
  { time "$@"; } 2>"$logs/time" || status=$?
  cpu=$(tail -n 1 "$logs/time" | awk '{ printf "%.0f", $1 + $2 }')
  spent+=("$(printf '%8d %8s  %s' $((SECONDS - start)) "$cpu" "$name")")
  return "$status"
}

# logged LOG COMMAND...: within the time that is left.
logged() {
  local log=$1 left=$((minutes * 60 - SECONDS))
  shift
  timeout --kill-after=10 "$left" "$@" >"$log" 2>&1 </dev/null
}

# unended LOG: the tests that ctest started and whose end it did not see, as one of them may hang.
unended() {
  sed -nE 's/^ *Start +([0-9]+): (.*)/\1 \2/p' "$1" | while read -r number name; do
    grep -qE " Test +#$number: " "$1" || echo "did not end: $name"
  done
}

# part NAME COMMAND...: runs a command with its output in a log, of which a failure shows what matters.
part() {
  local name=$1 log=$logs/$1.log start=$SECONDS status=0
  shift
  printf -- '-- %s ... ' "$name"
  if ((minutes * 60 <= SECONDS)); then
    printf 'FAILED (no time left of %d minutes)\n' "$minutes"
    return 124
  fi
  timed "$name" logged "$log" "$@" || status=$?
  if ((status == 0)); then
    printf 'ok (%d s)\n' $((SECONDS - start))
  elif ((status == 77)); then
    printf 'skipped, %s\n' "$(tail -n 1 "$log")"
  else
    printf 'FAILED (status %d, %d s), errors and end of %s:\n' "$status" $((SECONDS - start)) "$log"
    { grep -m 20 -E 'error:|ERROR: |^FAILED' "$log"; unended "$log"; echo ...; tail -n 60 "$log"; } | sed 's/^/   | /'
  fi
  return "$status"
}

# check NAME COMMAND...: a part that counts as one test. Exit status 77 means skipped.
check() {
  local status=0
  part "$@" || status=$?
  case $status in
    0) ((passed += 1)) ;;
    77) ((skipped += 1)) ;;
    *) ((failed += 1)) ;;
  esac
  return "$status"
}

# skip NAME WHY: counts a part that this machine cannot run.
skip() {
  printf -- '-- %s: skipped (%s)\n' "$1" "$2"
  ((skipped += 1))
}

# watch_hangs NAME: prints the stacks of programs of build/NAME that have run for $hang_seconds, by gdb
# where it is installed.
watch_hangs() {
  local -A looks=()
  local exe program pid
  while sleep 10; do
    for exe in /proc/[0-9]*/exe; do
      program=$(readlink "$exe")
      [[ $program == "$PWD/build/$1/bin/"* ]] || continue
      pid=${exe//[^0-9]/}
      looks[$pid]=$((${looks[$pid]:-0} + 1))
      ((looks[$pid] == hang_seconds / 10)) || continue
      printf '\nruns for %d s: %s, process %d\n' "$hang_seconds" "$program" "$pid"
      timeout --kill-after=5 60 gdb -p "$pid" -batch -ex 'thread apply all backtrace 16'
    done
  done
}

# suite NAME COMMAND...: a part that runs ctest in build/NAME. Its cases count one by one; a run that
# ended with all of them passed and yet failed, or without a result, counts as one failure more.
suite() {
  local name=$1 result=$logs/$1.xml hangs=$logs/$1.hangs.log status=0 counts watcher
  shift
  rm -rf "$result" "build/$name/test-results"
  : >"$hangs"
  watch_hangs "$name" >>"$hangs" 2>/dev/null &
  watcher=$!
  part "$name" "$@" --output-junit "$result" || status=1
  kill "$watcher"
  wait "$watcher" 2>/dev/null
  head -n 200 "$hangs"
  read -ra counts < <(python3 -B .ci/tally.py "$result" "build/$name/test-results")
  printf '   %s: %d passed, %d failed, %d skipped\n' "$name" "${counts[@]}"
  ((passed += counts[0], failed += counts[1], skipped += counts[2]))
  ((status == 0 || counts[1] > 0)) || ((failed += 1))
}

# ThreadSanitizer of GCC 12 cannot place its shadow where the kernel randomises more than 28 bits.
without_aslr=()
if (($(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28) > 28)) && setarch -R true 2>/dev/null; then
  without_aslr=(setarch -R)
fi

# sanitized PRESET LEVEL: builds what it can, runs what it built.
sanitized() {
  check "$1.configure" cmake --preset "$1" -DCREEK_TEST_LEVEL="$2" -DCREEK_WERROR=ON || return
  check "$1.build" "${without_aslr[@]}" cmake --build --preset "$1" -j "$jobs" -- -k 0
  suite "$1" "${without_aslr[@]}" ctest --preset "$1" -j "$jobs" -LE 'sources|model'
}

# formatted: the format of the sources, where clang-format is installed.
formatted() {
  if ! command -v clang-format-14 >/dev/null; then
    skip format "not installed; Debian: clang-format-14"
    return
  fi
  check format .ci/format
}

# by_clang: the libraries and the fuzz targets by the other compiler, where it is installed.
by_clang() {
  if ! command -v clang++-14 >/dev/null; then
    skip clang "not installed; Debian: clang-14 libclang-rt-14-dev"
    return
  fi
  # Without optimisation and sanitizers, as only its warnings and errors matter.
  check clang.configure cmake --preset fuzz -B build/clang -DCREEK_WERROR=ON \
    -DCREEK_SANITIZE=fuzzer-no-link -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 \
    -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$PWD/build/clang/bin" || return
  check clang.build cmake --build build/clang -j "$jobs" --target creek fuzzers
}

finish() {
  printf '\nwall s    CPU s  part\n'
  printf '%s\n' "${spent[@]}"
  printf '%6d s in all\n' "$SECONDS"
  ((skipped == 0)) || printf 'skipped: %d\n' "$skipped"
  printf '%d passed, %d failed\n' "$passed" "$failed"
  ((failed == 0))
}

mkdir -p "$logs"
