#!/usr/bin/env bash
# Builds the shared libraries and uses them as installed ones.
#   tests/package/check_shared.sh VERSION [--torch] [CMAKE-OPTION]...
set -euo pipefail
version=$1
shift
torch=OFF
if [[ ${1-} == --torch ]]; then
  torch=ON
  shift
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
{ cmake -S "$here/../.." -B "$build" -DBUILD_SHARED_LIBS=ON -DBUILD_TESTING=OFF -DTBTRACE_TORCH=$torch \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON "$@" && cmake --build "$build"; } >"$build/log" 2>&1 || {
  grep -E -A 5 -m 5 'error:|CMake Error|FAILED' "$build/log" || tail -n 30 "$build/log"
  exit 1
}
"$here/check_package.sh" "$build" "$version" -DCMAKE_BUILD_TYPE=Release "$@"
