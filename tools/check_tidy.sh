#!/usr/bin/env bash
# Does clang-tidy 14 find anything that .clang-tidy lists in our own sources?
#   tools/check_tidy.sh [--shallow] [BUILD [REGEX]]   (BUILD: a configured build folder, build/ if none is named;
#                                                      REGEX: only sources whose path below the repository matches)
# --shallow follows shorter paths through functions, in half the time.
# Runs on all cores; CMAKE_BUILD_PARALLEL_LEVEL=N runs N at a time.
set -euo pipefail
shallow=()
if [[ ${1-} == --shallow ]]; then
  shallow=(--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=shallow)
  shift
fi
folder=$(realpath -m -- "${1:-$(dirname "${BASH_SOURCE[0]}")/../build}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
pattern=${2:-.}

fail() {
  printf 'check_tidy: %s\n' "$*" >&2
  exit 1
}

command -v clang-tidy-14 >/dev/null || fail "there is no clang-tidy-14; tools/setup.sh --tests installs it"
database=$folder/compile_commands.json
[[ -f $database ]] || fail "there is no $database; 'cmake --preset release' makes build/'s"

# CMake writes one "file" line per translation unit, with an absolute path. Tests are left out: the macros of
# GoogleTest are not ours. So are programs with LibTorch, whose headers take half a minute a file.
mapfile -t files < <(sed -nE 's/^ *"file": "(.*)",?$/\1/p' "$database" | sort -u |
  awk -v root="$PWD/" 'index($0, root) == 1 { print substr($0, length(root) + 1) }' |
  grep -E '^(src|tools|examples)/' | grep -vE '^(src/libtorch|examples/(infer|profile|train)_)' | grep -E -e "$pattern" || true)
((${#files[@]} > 0)) || fail "$database names no source of ours that matches '$pattern'"

# shellcheck disable=SC2016 # the inner shell expands it
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" \
    bash -c 'report=$(clang-tidy-14 --quiet -p "$@" 2>&1) || { printf "%s\n" "$report"; exit 1; }' bash "$folder" "${shallow[@]}" ||
  fail "correct what is named above; a check that is wrong in principle goes off in .clang-tidy, with its reason"
echo "check_tidy: ${#files[@]} files"
