#!/usr/bin/env bash
# Sets up, builds and tests; the last line counts tests. This is what CI runs.
#   tools/test.sh                all tests (Release, with the system's LibTorch), those of LibTorch with the newer one,
#                                then the unit tests under address and undefined sanitizers
#   tools/test.sh --asan         all tests under these sanitizers
#   tools/test.sh --tsan         all tests under the thread sanitizer
#   tools/test.sh --only REGEX   only tests whose name matches, once (also with --asan or --tsan)
# CTEST_PARALLEL_LEVEL=N runs N tests at a time (default 2).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-2}

fail() {
  printf 'test: %s\n' "$*" >&2
  exit 1
}

mode=all
only=()
while (($# > 0)); do
  case $1 in
    --asan | --tsan)
      [[ $mode == all ]] || fail "takes one of --asan and --tsan"
      mode=${1#--}
      ;;
    --only)
      (($# > 1)) || fail "--only takes a regular expression for names of tests"
      only=(--tests-regex "$2")
      shift
      ;;
    *) fail "there is no option '$1'; see the first lines of tools/test.sh" ;;
  esac
  shift
done

passed=0 failed=0 skipped=0
status=0
doing=     # the phase under way
started=0  # when, in seconds of this script
phases=()  # with their seconds
logs=()    # of ctest

# begin PHASE, or nothing: ends the one before.
begin() {
  if [[ -n $doing ]]; then phases+=("$(printf '%6d  %s' $((SECONDS - started)) "$doing")"); fi
  doing=${1-}
  started=$SECONDS
}

# The slowest tests of all suites: seconds, folder, name.
slowest() {
  awk '/ Test +#[0-9]+: .* sec *$/ {
    folder = FILENAME
    sub("/.*", "", folder)
    sub(/^.* Test +#[0-9]+: /, "")
    printf "%9.1f  %s  %s\n", $(NF - 1), folder, $1
  }' "${logs[@]}" | sort -rn | head -n 20
}

# What ends the output, however this script ends.
# shellcheck disable=SC2317 # the trap calls it
closing_line() {
  local code=$?
  local stopped=$doing
  begin
  printf '== seconds\n'
  printf '%s\n' "${phases[@]}"
  if ((${#logs[@]} > 0)); then
    printf '== slowest tests: seconds, build, name\n'
    slowest || true
  fi
  local line="tests: $passed passed, $failed failed"
  if ((skipped > 0)); then line+=", $skipped skipped"; fi
  if [[ -n $stopped ]]; then line+=" (stopped while $stopped)"; fi
  printf '%s\n' "$line"
  exit "$code"
}
trap closing_line EXIT

# Adds up what ctest says at its end; a skipped test is among those that it calls passed.
count() {
  local counts
  counts=$(awk '
    / tests? passed, [0-9]+ tests? failed out of [0-9]+$/ {
      total = $NF; failed = $(NF - 5); skipped = 0; seen = 1
    }
    seen && /^[ \t]+[0-9]+ - .* \(Skipped\)$/ { ++skipped }
    END { if (seen) print total - failed - skipped, failed, skipped }' "$1")
  [[ -n $counts ]] || return 1
  local now_passed now_failed now_skipped
  read -r now_passed now_failed now_skipped <<<"$counts"
  passed=$((passed + now_passed))
  failed=$((failed + now_failed))
  skipped=$((skipped + now_skipped))
}

# What two suites or two clones compile alike is compiled once. ccache keeps what has precompiled headers only with this
# sloppiness, which does no harm where no header changes during a build.
export CCACHE_DIR=${XDG_CACHE_HOME:-${HOME:-$PWD}/.cache}/tbtrace/ccache CCACHE_MAXSIZE=5G
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

# suite PRESET FOLDER [CHECKS]: builds, and runs the tests; of CHECKS, a preset for a part of them.
suite() {
  local preset=$1 folder=$2 checks=${3:-$1}
  local log=$folder/test.log
  mkdir -p "$folder"
  : >"$log"

  begin "building $preset"
  echo "== $preset: building in $folder/"
  local command
  for command in \
    "cmake --preset $preset -DBUILD_TESTING=ON -DTBTRACE_E2E=ON -DTBTRACE_BENCHMARKS=ON -DCMAKE_CXX_COMPILER_LAUNCHER=ccache" \
    "cmake --build --preset $checks"; do
    # shellcheck disable=SC2086 # the words of a command
    if ! $command >>"$log" 2>&1 </dev/null; then
      grep -E -A 5 -m 5 '(error:|CMake Error)' "$log" >&2 || tail -n 30 "$log" >&2
      fail "'$command' failed (all of its output is in $PWD/$log); if $folder/ was made by something else, remove it"
    fi
  done

  begin "testing $preset"
  echo "== $preset: testing"
  local code=0
  logs+=("$folder/ctest.log")
  ctest --preset "$checks" "${only[@]}" 2>&1 | tee "$folder/ctest.log" || code=$?
  if ((code != 0)); then status=$code; fi
  # Without a summary nothing ran, and ctest has said why.
  if ! count "$folder/ctest.log"; then
    ((code == 0)) || exit "$code"
    fail "ctest printed no summary"
  fi
}

begin "setting up"
tools/setup.sh --tests
case $mode in
  asan) suite asan build-asan ;;
  tsan) suite tsan build-tsan ;;
  all)
    suite release build
    if ((${#only[@]} == 0)); then
      suite torch2 build-torch2
      suite asan build-asan asan-unit
    fi
    ;;
esac
begin
exit "$status"
