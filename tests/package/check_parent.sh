#!/usr/bin/env bash
# Has tbtrace as a part of another project: configures it by add_subdirectory and by FetchContent, looks at what it
# left in that project, and builds a little. With --build it builds all, by add_subdirectory, and runs the project's program.
#   tests/package/check_parent.sh [--build] [CMAKE-OPTION]...
set -euo pipefail
build=false
if [[ ${1-} == --build ]]; then
  build=true
  shift
fi
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

configure added -DTBTRACE_SOURCE="$root" "$@"
if ! $build; then
  configure fetched -DTBTRACE_FETCH=ON -DFETCHCONTENT_SOURCE_DIR_TBTRACE="$root" "$@"
  # The lowest layer; all of it is built with --build.
  cmake --build "$work/fetched" --target tbtrace_base >"$work/log" 2>&1 || fail "$(tail -n 30 "$work/log")"
  echo "check_parent: added, fetched, nothing leaked"
  exit
fi

cmake --build "$work/added" >"$work/log" 2>&1 || fail "$(grep -E -A 5 -m 5 'error:|FAILED' "$work/log" || tail -n 30 "$work/log")"
! grep -q 'warning:' "$work/log" || fail "the build warned: $(grep -m 5 'warning:' "$work/log")"
printed=$("$work/added/program" "$root/tests/data/stacks.json") || fail "the program failed: $printed"
[[ $printed == *"Self CPU time total: 800.000us"* ]] || fail "the program printed something else: $printed"
echo "check_parent: added, built, run"
