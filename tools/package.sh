#!/usr/bin/env bash
# Builds a Debian package for the machine that it runs on, in build-package/, and prints its path.
#   tools/package.sh [CMAKE-OPTION]...
# It has the command line, libtbtrace.so, its headers, and what CMake and pkg-config read. It has no tbtrace::torch, which
# would be for the LibTorch of this machine only: build that from source.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  printf 'package: %s\n' "$*" >&2
  exit 1
}

for program in dpkg-shlibdeps:dpkg-dev file:file; do
  command -v "${program%:*}" >/dev/null ||
    fail "there is no ${program%:*}; install ${program#*:} (tools/setup.sh does)"
done

export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
folder=build-package
log=$folder/package.log
mkdir -p "$folder"
: >"$log"

# Runs a command with its output in the log; shows the log's end if it fails.
logged() {
  "$@" >>"$log" 2>&1 </dev/null && return
  tail -n 30 "$log" >&2
  fail "'$*' failed (all of its output is in $PWD/$log); remove $folder/ and run this again"
}

logged cmake -S . -B "$folder" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
  -DBUILD_SHARED_LIBS=ON -DTBTRACE_TORCH=OFF -DBUILD_TESTING=OFF "$@"
logged cmake --build "$folder"
rm -f "$folder"/*.deb
logged cpack -G DEB --config "$folder/CPackConfig.cmake" -B "$folder"
realpath -- "$folder"/*.deb
