#!/usr/bin/env bash
# Sets up, builds and tests; the last line counts tests.
#   tools/test.sh                what CI runs: all tests (Release, with the system's LibTorch), those of LibTorch with
#                                the newer one, then the library and the command line under address and undefined
#                                sanitizers
#   tools/test.sh --quick        what to run before a commit: no LibTorch, no browsers, no sanitizers, and only tests that
#                                this branch can have touched (tools/touched_tests.py)
#   tools/test.sh --all          everything: CI's, the long tests, the thread sanitizer, a build without what is
#                                optional, the Python package under the address sanitizer and as a wheel, a release,
#                                clang-tidy in full, LibTorch's tests with 2.13, a minute of each fuzz target, the demo,
#                                the page that traces are dropped on
#   tools/test.sh --all PART...  some of these parts: release torch2 torch213 asan tsan minimal wheel packages fuzz demo page
#   tools/test.sh --asan         the library and the command line under one of these sanitizers
#   tools/test.sh --tsan
#   tools/test.sh --unit ROOM    builds (Debug, in build-dev/) and runs the unit tests of a folder of src/ and nothing else:
#                                base, trace; of analyses/gpu only the cases in tests/analyses/gpu
#   tools/test.sh --only REGEX   only tests whose name matches (also with --asan and --tsan); with GTEST_FILTER=PATTERN
#                                in the environment only such cases of GoogleTest (also with --unit)
# CTEST_PARALLEL_LEVEL=N runs N tests at a time (default 2, and 3 where browsers are among them, which wait more than they
# compute). TBTRACE_RANDOM_PERCENT, how many random inputs tests take, is 20 for --quick, 100 for CI, and for --all 1000 in
# the release build; the presets of the sanitizers say 10.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
slots_with_browsers=${CTEST_PARALLEL_LEVEL:-3}
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-2}
# Packages of the tests are compiled to bytecode when they are first used; without that each Python does it again.
unset PYTHONDONTWRITEBYTECODE

fail() {
  printf 'test: %s\n' "$*" >&2
  exit 1
}

level=ci
room=
only=()
parts=()
while (($# > 0)); do
  case $1 in
    --quick | --all | --asan | --tsan)
      [[ $level == ci ]] || fail "takes one of --quick, --all, --asan, --tsan and --unit"
      level=${1#--}
      ;;
    --unit)
      (($# > 1)) || fail "--unit takes a folder of src/, such as trace or analyses/gpu"
      [[ $level == ci ]] || fail "--unit goes without --$level"
      level=unit
      room=${2%/}
      shift
      ;;
    --only)
      (($# > 1)) || fail "--only takes a regular expression for names of tests"
      only=(--tests-regex "$2")
      shift
      ;;
    release | torch2 | torch213 | asan | tsan | minimal | wheel | packages | fuzz | demo | page)
      [[ $level == all ]] || fail "takes parts after --all only"
      parts+=("$1")
      ;;
    *) fail "there is no option '$1'; see the first lines of tools/test.sh" ;;
  esac
  shift
done
[[ ${#only[@]} == 0 || $level != @(quick|all|unit) ]] || fail "--only goes without --$level"

status=0
doing=     # the phase under way
started=0  # when, in seconds of this script
phases=()  # with their seconds
folders=() # of the builds that were tested

# begin PHASE, or nothing: ends the one before.
begin() {
  if [[ -n $doing ]]; then phases+=("$(printf '%6d  %s' $((SECONDS - started)) "$doing")"); fi
  doing=${1-}
  started=$SECONDS
}

# What ends the output, however this script ends.
# shellcheck disable=SC2317 # the trap calls it
closing_line() {
  local code=$?
  local stopped=$doing
  begin
  printf '== seconds\n'
  printf '%s\n' "${phases[@]}"
  local report='' passed=0 failed=0 skipped=0
  if ((${#folders[@]} > 0)) && report=$(tools/count_tests.py "${folders[@]}"); then
    read -r passed failed skipped <<<"${report##*$'\n'}"
    printf '%s\n' "${report%$'\n'*}"
  fi
  local line="tests: $passed passed, $failed failed"
  if ((skipped > 0)); then line+=", $skipped skipped"; fi
  if [[ -n $stopped ]]; then line+=" (stopped while $stopped)"; fi
  printf '%s\n' "$line"
  exit "$code"
}
trap closing_line EXIT

# What two suites or two clones compile alike is compiled once. ccache keeps what has precompiled headers only with this
# sloppiness, which does no harm where no header changes during a build.
export CCACHE_DIR=${XDG_CACHE_HOME:-${HOME:-$PWD}/.cache}/tbtrace/ccache CCACHE_MAXSIZE=5G
# The hashes of files are kept, or that of a precompiled header (LibTorch's has 645 MB) would be made for each source.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1 CCACHE_INODECACHE=1
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

# logged LOG COMMAND...: with its output in the log; shows what went wrong.
logged() {
  local log=$1
  shift
  "$@" >>"$log" 2>&1 </dev/null && return
  grep -E -A 5 -m 5 '(error:|CMake Error)' "$log" >&2 || tail -n 30 "$log" >&2
  fail "'$*' failed (all of its output is in $PWD/$log); if ${log%/*}/ was made by something else, remove it"
}

# built PRESET FOLDER [OPTION...]: configures and builds; of --target, one of the options, only that. What a longer run or
# the demo left in the folder's settings is off unless an option says otherwise.
built() {
  local preset=$1 folder=$2
  shift 2
  local target=() options=()
  while (($# > 0)); do
    if [[ $1 == --target ]]; then
      target=("$1" "$2")
      shift
    else
      options+=("$1")
    fi
    shift
  done
  local log=$folder/test.log
  mkdir -p "$folder"
  : >"$log"
  begin "building $preset"
  echo "== $preset: building in $folder/"
  logged "$log" cmake --preset "$preset" -DBUILD_TESTING=ON \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$PWD/tools/compiler_cache.sh" \
    -DTBTRACE_BENCHMARKS=OFF -DTBTRACE_INTEGRATIONS=OFF -DTBTRACE_PYTHON=OFF -UCMAKE_UNITY_BUILD_BATCH_SIZE "${options[@]}"
  logged "$log" cmake --build --preset "$preset" "${target[@]}"
}

# tested PRESET FOLDER [OPTION-OF-CTEST...]
tested() {
  local preset=$1 folder=$2
  shift 2
  begin "testing $preset"
  echo "== $preset: testing"
  rm -rf "$folder/cases" "$folder/ctest.xml"
  local code=0
  ctest --preset "$preset" --output-junit "$PWD/$folder/ctest.xml" "${only[@]}" "$@" || code=$?
  if ((code != 0)); then status=$code; fi
  [[ -f $folder/ctest.xml ]] || fail "ctest did not say what ran"
  folders+=("$folder")
}

# What is optional has to be there, or its tests would be left out.
complete=("-DTBTRACE_"{CAIRO,ISAL,PNG,PROTOBUF,ZSTD}"=ON" "-DCMAKE_REQUIRE_FIND_PACKAGE_"{GTest,Libbacktrace}"=ON")
python=(-DTBTRACE_PYTHON=ON -DPython_EXECUTABLE="$PWD/.venv-python/bin/python")

# The suites. What has the label `all` is too long for CI.
unit() {
  local target=${room%%/*}_tests cases=
  [[ -d tests/$room && -f tests/${room%%/*}/CMakeLists.txt ]] || fail "there are no unit tests of '$room': give a folder of src/ that tests/ has too"
  if [[ $room == */* && -z ${GTEST_FILTER-} ]]; then
    cases=$(grep -hoP '^(TEST|TEST_F|TEST_P)\(\K\w+' -r "tests/$room" --include='*.cc' | sort -u | sed 's/.*/*&.*/' | paste -sd :)
    export GTEST_FILTER=$cases
  fi
  built dev build-dev -DTBTRACE_TORCH=OFF -DTBTRACE_E2E=OFF -DTBTRACE_EXAMPLES=OFF --target "$target"
  only=(--tests-regex "^${room%%/*}(\\.[0-9]+)?\$")
  TBTRACE_RANDOM_PERCENT=20 tested dev build-dev --label-regex '^unit$'
}
quick() {
  built release build "${complete[@]}" -DTBTRACE_TORCH=ON --target quick_checks
  TBTRACE_RANDOM_PERCENT=20 tested release build --tests-regex "$(tools/touched_tests.py)" \
    --label-regex '^(unit|cli|rules|oracle|reference)$' --label-exclude '^(slow|all)$'
}
release() {
  built release build "${complete[@]}" -DTBTRACE_TORCH=ON -DTBTRACE_E2E=ON "${python[@]}" "$@"
  CTEST_PARALLEL_LEVEL=$slots_with_browsers TBTRACE_RANDOM_PERCENT=$random_percent tested release build "${long[@]}"
}
newer_torch() {
  # A folder at once, as the wheel and the demo compile it: names that its files keep to themselves must not meet.
  built torch2 build-torch2 "${complete[@]}" -DTBTRACE_E2E=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=25 --target "${1-libtorch_checks}"
  tested torch2 build-torch2 --label-regex '^libtorch$' "${long[@]}"
}
torch213() {
  begin "setting up torch213"
  tools/setup.sh --torch213
  built torch213 build-torch213 "${complete[@]}" -DTBTRACE_E2E=ON --target libtorch_checks
  tested torch213 build-torch213 --label-regex '^libtorch$' --label-exclude '^all$'
}
sanitized() {
  local preset=$1
  shift
  built "$preset" "build-$preset" "${complete[@]}" --target sanitizer_checks "$@"
  # Figures of other tools are frozen; their code runs under sanitizers with --all.
  tested "$preset" "build-$preset" --label-regex '^(unit|cli|python)$' "${long[@]/#^all$/^(all|compat)$}"
}
minimal() {
  built minimal build-minimal
  tested minimal build-minimal --label-regex '^(unit|cli)$' "${long[@]}"
}
fuzz() {
  built fuzz build-fuzz "${complete[@]}" --target fuzzers
  tested fuzz build-fuzz --label-regex '^fuzz$'
}
wheel() {
  begin "building the wheel"
  echo "== wheel"
  tools/wheel.sh
}
make_release() {
  begin "making a release"
  echo "== making a release"
  tools/release.sh build-release/out
}
demo() {
  begin "running the demo"
  local log=build-demo/demo.log
  rm -rf build-demo
  mkdir build-demo
  echo "== demo"
  logged "$log" git clone --quiet . build-demo/clone
  logged "$log" build-demo/clone/tools/demo.sh
  rm -rf build-demo/clone
}

page() {
  if ((EUID != 0)) && ! tools/emscripten.sh --check; then
    echo "== the page is left out: root has to run tools/emscripten.sh once"
    return
  fi
  # Its program compresses by zlib, as the page does, so that what both write is equal byte by byte.
  built minimal build-minimal --target tbtrace_program
  begin "making the page"
  echo "== the page"
  tools/page.sh build-wasm/out
  begin "testing the page"
  PYTHONPATH=tests .venv/bin/python -m e2e.pages.drop_test --tbtrace build-minimal/tools/tbtrace --page build-wasm/out/index.html \
    examples/traces/*.json.gz tests/data/gpu_step*.json tests/data/{serving,hostile_names,counters,damaged,cuda_graph}.json \
    tests/data/h200/*.json.gz
  PYTHONPATH=tests .venv/bin/python -m e2e.pages.drop_firefox_test --page build-wasm/out/index.html
}

begin "setting up"
tools/setup.sh --tests
long=(--label-exclude '^all$')
random_percent=100
case $level in
  quick) quick ;;
  unit) unit ;;
  asan | tsan) sanitized "$level" ;;
  ci)
    release
    if ((${#only[@]} == 0)); then
      newer_torch
      sanitized asan
    fi
    ;;
  all)
    long=()
    random_percent=1000
    export TBTRACE_ASK_AGAIN=1  # consumers, for what they said of originals (tests/e2e/recorded_answers.py)
    ((${#parts[@]} > 0)) || parts=(release torch2 torch213 asan tsan minimal wheel packages fuzz demo page)
    for part in "${parts[@]}"; do
      case $part in
        release)
          begin "setting up integrations"
          tools/setup.sh --integrations
          release -DTBTRACE_BENCHMARKS=ON -DTBTRACE_INTEGRATIONS=ON
          ;;
        torch2) newer_torch more_libtorch_checks ;;
        asan) sanitized asan "${python[@]}" ;;
        tsan) sanitized tsan ;;
        packages) make_release ;;
        *) "$part" ;;
      esac
    done
    ;;
esac
begin
exit "$status"
