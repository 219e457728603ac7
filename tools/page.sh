#!/usr/bin/env bash
# Makes the page that traces are dropped on: the program as WebAssembly, in one HTML file.
#   tools/page.sh OUT            index.html and LICENSES.txt into the folder OUT, which is made if it is not there
# tools/setup.sh installs what this needs, tools/emscripten.sh the compiler; the sources of some libraries are Debian's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  printf 'page: %s\n' "$*" >&2
  exit 1
}
(($# == 1)) && [[ $1 != -* ]] || fail "takes OUT"
out=$1
folder=build-wasm
log=$folder/page.log
most_bytes=2621440  # of the compressed page: 2.5 MiB
mkdir -p "$folder"
: >"$log"
logged() {
  "$@" >>"$log" 2>&1 </dev/null && return
  grep -E -A 5 -m 5 '(error:|CMake Error)' "$log" >&2 || tail -n 20 "$log" >&2
  fail "'$*' failed (all of its output is in $PWD/$log)"
}

TBTRACE_EMSCRIPTEN=$(tools/emscripten.sh)
export TBTRACE_EMSCRIPTEN
export CCACHE_COMPILERTYPE=clang CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} # its commands have names that ccache does not know
echo "page: building the program"
libraries=$PWD/build-release/libraries-wasm
CC=$TBTRACE_EMSCRIPTEN/emcc CXX=$TBTRACE_EMSCRIPTEN/em++ AR=$TBTRACE_EMSCRIPTEN/emar RANLIB=$TBTRACE_EMSCRIPTEN/emranlib \
  logged tools/release_libraries.sh wasm32 "$libraries" zlib libzstd simdjson fmtlib
logged cmake --preset wasm -DCMAKE_CXX_COMPILER_LAUNCHER="$PWD/tools/compiler_cache.sh" -DCMAKE_PREFIX_PATH="$libraries"
logged cmake --build --preset wasm --target tbtrace_page
page=$folder/page/index.html
bytes=$(gzip -9 -c "$page" | wc -c)
((bytes <= most_bytes)) || fail "$page has $bytes bytes when it is compressed, which is more than $most_bytes"
mkdir -p "$out"
emscripten=$TBTRACE_EMSCRIPTEN/../root/usr/share/doc/emscripten/copyright # also of its C and C++ libraries
for file in LICENSE "$libraries"/share/{zlib,libzstd,simdjson,fmtlib,libboost-dev,libcxxopts-dev}.copyright "$emscripten"; do
  printf '==== %s\n\n' "$(basename "${file/$emscripten/emscripten}" .copyright)"
  cat "$file"
  printf '\n\n'
done >"$out/LICENSES.txt"
cp "$page" "$out/index.html.new"
mv "$out/index.html.new" "$out/index.html"
echo "page: $out/index.html, $bytes bytes compressed"
