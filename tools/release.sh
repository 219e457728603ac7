#!/usr/bin/env bash
# Makes what a release consists of: the program for any Linux, its Debian package, a container file, the page that traces
# are dropped on, a bill of materials and checksums.
#   tools/release.sh OUT            into the folder OUT, which is made anew
#   tools/release.sh OUT --wheel    and the wheels of tools/wheel.sh, which compiles everything a second time
# tools/setup.sh installs what this needs; the sources of some libraries are Debian's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  printf 'release: %s\n' "$*" >&2
  exit 1
}
case "$#,${2-}" in
  1,) with_wheel=false ;;
  2,--wheel) with_wheel=true ;;
  *) fail "takes OUT, and --wheel or nothing" ;;
esac
for program in nasm:nasm dpkg-deb:dpkg dpkg-source:dpkg-dev protoc:protobuf-compiler; do
  command -v "${program%:*}" >/dev/null || fail "there is no ${program%:*}; install ${program#*:}"
done
out=$1
architecture=$(uname -m)
version=$(sed -n 's/^#define TBTRACE_VERSION "\(.*\)"/\1/p' include/tbtrace/version.h)
folder=build-static
log=$folder/release.log
mkdir -p "$folder"
: >"$log"
logged() {
  "$@" >>"$log" 2>&1 </dev/null && return
  tail -n 20 "$log" >&2
  fail "'$*' failed (all of its output is in $PWD/$log)"
}
rm -rf "$out"
mkdir -p "$out"
out=$(realpath "$out")

echo "release: building the program"
cached=$PWD/tools/compiler_cache.sh
libraries=$PWD/build-release/libraries-static
CC="$cached gcc" CXX="$cached g++" AR=gcc-ar RANLIB=gcc-ranlib \
  logged tools/release_libraries.sh "$architecture" "$libraries" simdjson libisal fmtlib
logged cmake --preset release -B "$folder" -DBUILD_TESTING=OFF -DTBTRACE_PYTHON=OFF -DTBTRACE_TORCH=OFF \
  -DCMAKE_CXX_COMPILER_LAUNCHER="$cached" "-DTBTRACE_"{CAIRO,ISAL,PNG,PROTOBUF,ZSTD}=ON \
  -DCMAKE_INSTALL_PREFIX=/usr "-DTBTRACE_STATIC_LIBRARIES=$libraries/lib"
logged cmake --build "$folder" --target tbtrace_static tbtrace_program tbtrace_document_files
program=$out/tbtrace-$version-linux-$architecture
cp "$folder/tools/tbtrace_static" "$program"
loads=$(readelf --dynamic --program-headers --wide "$program" | grep -E 'INTERP|NEEDED' || true)
[[ -z $loads ]] || fail "the program is to need no library, but loads $loads"
trace=examples/traces/resnet18_training.json.gz
for arguments in --version "ops $trace" "summary $trace" "kernels tests/data/gpu_step.json --format json" "ops missing.json" --help; do
  # shellcheck disable=SC2086 # words
  env -i "$program" $arguments >"$folder/said" 2>&1 && code=0 || code=$?
  # shellcheck disable=SC2086
  env -i "$folder/tools/tbtrace" $arguments >"$folder/wanted" 2>&1 && wanted=0 || wanted=$?
  { cmp "$folder/said" "$folder/wanted" && ((code == wanted)); } ||
    fail "'tbtrace $arguments' of the static program says something else than $folder/tools/tbtrace"
done
env -i "$program" --version --verbose | grep -q '^archives *no: this tbtrace is linked statically' ||
  fail "the static program does not say that it cannot load libarchive"

echo "release: making the Debian package"
staged=$folder/deb
rm -rf "$staged"
documents=$folder/tools/documents
install -D -m 755 "$program" "$staged/usr/bin/tbtrace"
install -D -m 644 "$documents/tbtrace.1" "$staged/usr/share/man/man1/tbtrace.1"
gzip -9 -n "$staged/usr/share/man/man1/tbtrace.1"
install -D -m 644 "$documents/tbtrace.bash" "$staged/usr/share/bash-completion/completions/tbtrace"
install -D -m 644 "$documents/_tbtrace" "$staged/usr/share/zsh/vendor-completions/_tbtrace"
install -D -m 644 "$documents/tbtrace.fish" "$staged/usr/share/fish/vendor_completions.d/tbtrace.fish"
install -D -m 644 LICENSE "$staged/usr/share/doc/tbtrace/copyright"
tools/release_materials.py --static "$libraries" "$version" --licences >>"$staged/usr/share/doc/tbtrace/copyright"
mkdir "$staged/DEBIAN"
cat >"$staged/DEBIAN/control" <<CONTROL
Package: tbtrace
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: the tbtrace authors <tbtrace@example.invalid>
Installed-Size: $(du -k -s "$staged/usr" | cut -f 1)
Section: utils
Priority: optional
Description: reads the traces of PyTorch's profiler
 Prints operator tables and summaries of saved traces, draws flame graphs and
 writes pages and log directories for TensorBoard. One program that needs no
 library.
CONTROL
logged dpkg-deb --root-owner-group -Zxz --build "$staged" "$out"
dpkg-deb --fsys-tarfile "$out"/*.deb | tar -xO ./usr/bin/tbtrace | cmp - "$program" || fail "the package has another program"

cp tools/Containerfile "$out"
if ((EUID == 0)) || tools/emscripten.sh --check; then
  tools/page.sh "$out/page"
else
  echo "release: without the page that traces are dropped on: root has to run tools/emscripten.sh once"
fi
bill=(--static "$libraries")
if $with_wheel; then
  rm -rf wheels
  tools/wheel.sh
  cp wheels/tbtrace-"$version"-*.whl "$out"
  bill+=(--wheel "$PWD/build-wheel/materials")
fi
tools/release_materials.py "${bill[@]}" "$version" >"$out/tbtrace-$version.cdx.json"
sums=$(cd "$out" && find . -type f -printf '%P\0' | sort -z | xargs -0 sha256sum --)
printf '%s\n' "$sums" >"$out/SHA256SUMS"
(cd "$out" && find . -type f -printf '%s %P\n' | sort -k 2)
