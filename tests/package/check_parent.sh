#!/usr/bin/env bash
# Has tbtrace as a part of another project: configures it by add_subdirectory and by FetchContent, looks at what it
# left in that project, and builds a little. With --build it builds all, by add_subdirectory, and runs the project's program.
# With --torch also what TBTRACE_TORCH=ON and TBTRACE_INSTALL=ON add.
#   tests/package/check_parent.sh [--build] [--torch] [CMAKE-OPTION]...
set -euo pipefail
build=false
torch=false
while [[ ${1-} == --build || ${1-} == --torch ]]; do
  if [[ $1 == --build ]]; then build=true; else torch=true; fi
  shift
done
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(realpath -- "$here/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  printf 'check_parent: %s\n' "$*" >&2
  exit 1
}

# configure FOLDER [CMAKE-OPTION]...
configure() {
  local folder=$work/$1
  shift
  cmake -S "$here/parent" -B "$folder" "$@" >"$work/log" 2>&1 || fail "$(tail -n 30 "$work/log")"
  cmake --install "$folder" --prefix "$work/prefix" >"$work/log" 2>&1 || fail "$(tail -n 30 "$work/log")"
  [[ ! -e $work/prefix ]] || fail "a part installs files: $(find "$work/prefix" -type f | head -n 3)"
}

# With LibTorch and install rules, which stand in the project's own.
if $torch; then
  cmake -S "$here/parent" -B "$work/torch" -DTBTRACE_SOURCE="$root" -DTBTRACE_TORCH=ON -DTBTRACE_INSTALL=ON "$@" \
    >"$work/log" 2>&1 || fail "$(tail -n 30 "$work/log")"
  for name in libtbtrace_torch.a tbtraceTorchTargets.cmake tbtraceConfig.cmake tbtrace.pc include/tbtrace; do
    grep -qF "$name" "$work/torch/tbtrace/cmake_install.cmake" || fail "TBTRACE_INSTALL=ON does not install $name"
  done
fi

configure added -DTBTRACE_SOURCE="$root" "$@"
if ! $build; then
  configure fetched -DTBTRACE_FETCH=ON -DFETCHCONTENT_SOURCE_DIR_TBTRACE="$root" "$@"
  # The lowest layer; all of it is built with --build.
  cmake --build "$work/fetched" --target tbtrace_base >"$work/log" 2>&1 || fail "$(tail -n 30 "$work/log")"
  echo "check_parent: added, fetched, nothing leaked"
  exit
fi

folder=$work/added
if $torch; then folder=$work/torch; fi
cmake --build "$folder" >"$work/log" 2>&1 || fail "$(grep -E -A 5 -m 5 'error:|FAILED' "$work/log" || tail -n 30 "$work/log")"
! grep -q 'warning:' "$work/log" || fail "the build warned: $(grep -m 5 'warning:' "$work/log")"
printed=$("$folder/program" "$root/tests/data/stacks.json") || fail "the program failed: $printed"
[[ $printed == *"Self CPU time total: 400.000us"* ]] || fail "the program printed something else: $printed"
if $torch; then
  printed=$("$folder/my_training" 2>&1) || fail "the program with LibTorch failed: $printed"
  [[ $printed == *"aten::mm"* ]] || fail "the program with LibTorch printed something else: $printed"
  cmake --install "$folder" --prefix "$work/prefix" >"$work/log" 2>&1 || fail "$(tail -n 30 "$work/log")"
  [[ -n $(find "$work/prefix" -name tbtraceTorchTargets.cmake) ]] || fail "tbtrace::torch is not installed"
fi
echo "check_parent: added, built, run"
