#!/usr/bin/env bash
# Makes what gcc links instead of this machine's glibc, for programs that run with glibc 2.28 and newer.
#   CC=COMPILER AR=ARCHIVER tools/old_glibc/make_stubs.sh ARCHITECTURE FOLDER PYTHON
# With `-BFOLDER -LFOLDER` gcc takes them. They are libraries that only say which functions that glibc has, what it links
# into each program, and what GCC's C++ library calls of newer ones (newer_functions.c). They come from the Python package
# ziglang, which PYTHON installs and which is gone afterwards. Does nothing where FOLDER is complete.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")

fail() {
  printf 'stubs: %s\n' "$*" >&2
  exit 1
}
(($# == 3)) || fail "takes ARCHITECTURE FOLDER PYTHON"
: "${CC:?}" "${AR:?}"
glibc=2.28
zig=0.17.1
architecture=$1
python=$3
mkdir -p "$2"
folder=$(realpath "$2")
made_from=$(cat "${BASH_SOURCE[0]}" "$here/newer_functions.c" <(printf '%s\n' "$architecture" "$CC") | sha256sum)
[[ ! -f $folder/complete || $(<"$folder/complete") != "$made_from" ]] || exit 0

rm -rf "${folder:?}"/*
work=$folder/work
mkdir "$work"
"$python" -m pip install --disable-pip-version-check --no-compile --quiet --target "$work/zig" "ziglang==$zig"
echo 'int main(void) { return 0; }' >"$work/main.c"
ZIG_GLOBAL_CACHE_DIR=$work/cache ZIG_LOCAL_CACHE_DIR=$work/cache "$work/zig/ziglang/zig" cc \
  -target "$architecture-linux-gnu.$glibc" -fPIE -pie "$work/main.c" -o "$work/main"

for name in Scrt1.o libc_nonshared.a libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libutil.so.1 libld.so.2; do
  mapfile -t found < <(find "$work/cache" -name "$name")
  ((${#found[@]} == 1)) || fail "zig $zig has made ${#found[@]} files $name"
  mv "${found[0]}" "$folder"
done
for name in m pthread dl rt util; do
  ln -s "$(basename "$folder/lib$name.so".?)" "$folder/lib$name.so"
done
loader=$(readelf --dynamic "$folder/libld.so.2" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
mv "$folder/libld.so.2" "$folder/$loader"
"$CC" -O2 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -c "$here/newer_functions.c" -o "$work/newer_functions.o"
"$AR" rcs "$folder/libnewer.a" "$work/newer_functions.o"
printf 'GROUP(%s)\n' "$folder/libc.so.6 $folder/libc_nonshared.a $folder/libnewer.a AS_NEEDED($folder/$loader \
$folder/libpthread.so.0 $folder/libdl.so.2 $folder/libm.so.6 $folder/librt.so.1)" >"$folder/libc.so"
rm -rf "$work"
echo "$made_from" >"$folder/complete"
