#!/usr/bin/env bash
# Is all C++ laid out as .clang-format says? With clang-format 14; other versions differ.
#   tools/check_format.sh         names what is not
#   tools/check_format.sh --fix   lays it out
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  printf 'check_format: %s\n' "$*" >&2
  exit 1
}

case "$#,${1-}" in
  0,) mode=(--dry-run -Werror) ;;
  1,--fix) mode=(-i) ;;
  *) fail "takes --fix or nothing" ;;
esac
command -v clang-format-14 >/dev/null || fail "there is no clang-format-14; tools/setup.sh --tests installs it"

folders=()
for folder in include src tools page python tests examples benchmarks; do
  if [[ -d $folder ]]; then folders+=("$folder"); fi
done
mapfile -d '' files < <(find "${folders[@]}" -type f \( -name '*.h' -o -name '*.cc' \) -print0 | sort -z)
((${#files[@]} > 0)) || fail "found no C++ file"

clang-format-14 "${mode[@]}" "${files[@]}" || fail "tools/check_format.sh --fix lays these files out"
echo "check_format: ${#files[@]} files"
