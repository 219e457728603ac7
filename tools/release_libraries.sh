#!/usr/bin/env bash
# Builds the libraries that a release has compiled in, as archives, from Debian's source packages.
#   CC=COMPILER CXX=COMPILER AR=ARCHIVER RANLIB=INDEXER tools/release_libraries.sh ARCHITECTURE FOLDER [NAME]...
# ARCHITECTURE is the machine that they are for: x86_64 or aarch64. In FOLDER then are include/, lib/, and components.tsv, a
# line for each: name, version, licence, and the file in share/ that has the licence. NAMEs are those of Debian's source
# packages, without any of them all. Does nothing where FOLDER is complete.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  printf 'libraries: %s\n' "$*" >&2
  exit 1
}
(($# >= 2)) || fail "takes ARCHITECTURE FOLDER [NAME]..."
architecture=$1
mkdir -p "$2"
prefix=$(realpath "$2")
shift 2
wanted=("$@")
: "${CC:?}" "${CXX:?}" "${AR:?}" "${RANLIB:?}"
export CC CXX AR RANLIB

# Debian's source package, and its licence as SPDX writes it. Headers without a library come from the packages of this
# machine: boost, cxxopts, cairo's.
sources=(zlib:Zlib libzstd:BSD-3-Clause libisal:BSD-3-Clause simdjson:Apache-2.0 fmtlib:MIT re2:BSD-3-Clause protobuf:BSD-3-Clause)
headers=(libboost-dev:BSL-1.0 libcxxopts-dev:MIT libcairo2-dev:LGPL-2.1-only)
made_from=$(cat "${BASH_SOURCE[0]}" <(printf '%s\n' "$architecture" "$CC" "$CXX" "${wanted[@]}") | sha256sum)
wants() { ((${#wanted[@]} == 0)) || [[ " ${wanted[*]} " == *" $1 "* ]]; }
[[ ! -f $prefix/complete || $(<"$prefix/complete") != "$made_from" ]] || exit 0

downloads=build-release/sources
mkdir -p "$downloads/lists" "$downloads/sources.list.d"
downloads=$(realpath "$downloads")
log=$prefix/libraries.log
: >"$log"
logged() {
  "$@" >>"$log" 2>&1 </dev/null && return
  tail -n 20 "$log" >&2
  fail "'$*' failed (all of its output is in $log)"
}

# What apt is set up with, with sources instead of packages, and in lists of its own.
if [[ ! -f $downloads/complete ]]; then
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    if [[ -f $file ]] && grep -q '/debian' "$file"; then
      sed -E 's/^Types:.*/Types: deb-src/; s/^deb /deb-src /' "$file" >"$downloads/sources.list.d/${file##*/}"
    fi
  done
  mv -f "$downloads/sources.list.d/sources.list" "$downloads/sources.list" 2>/dev/null || : >"$downloads/sources.list"
  apt=(apt-get -q -o "Dir::Etc::sourcelist=$downloads/sources.list" -o "Dir::Etc::sourceparts=$downloads/sources.list.d"
    -o "Dir::State::lists=$downloads/lists" -o APT::Sandbox::User=root -o Acquire::Retries=3)
  logged "${apt[@]}" update
  for source in "${sources[@]}"; do
    name=${source%:*}
    # Mirrors may list an update that they no longer have.
    (cd "$downloads" && "${apt[@]}" source --download-only "$name" >>"$log" 2>&1) || {
      printf 'libraries: the newest sources of %s are not to be had: taking those of the release, without updates\n' "$name" >&2
      (cd "$downloads" && logged "${apt[@]}" source --download-only "$name/$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)")
    }
  done
  touch "$downloads/complete"
fi

work=$prefix/work
rm -rf "$work" "${prefix:?}"/{include,lib,share,components.tsv}
mkdir -p "$work" "$prefix/include" "$prefix/lib" "$prefix/share"
flags=(-O3 -DNDEBUG -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -g0 -w)

# component NAME VERSION LICENCE FILE
component() {
  cp "$4" "$prefix/share/$1.copyright"
  printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$1.copyright" >>"$prefix/components.tsv"
}

# archive NAME FLAG... -- SOURCE...: lib/libNAME.a of them.
archive() {
  local name=$1 options=() objects=() source
  shift
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  mkdir -p "$work/$name"
  for source; do
    objects+=("$work/$name/${#objects[@]}.o")
    case $source in
      *.cc | *.cpp) printf '%s\0' "$CXX ${flags[*]} -std=c++17 ${options[*]} -c $source -o ${objects[-1]}" ;;
      *) printf '%s\0' "$CC ${flags[*]} ${options[*]} -c $source -o ${objects[-1]}" ;;
    esac
  done >"$work/$name/commands"
  logged xargs -0 -P "$(nproc)" -I COMMAND -a "$work/$name/commands" sh -c COMMAND
  logged "$AR" rcs "$prefix/lib/lib$name.a" "${objects[@]}"
  logged "$RANLIB" "$prefix/lib/lib$name.a"
}

for source in "${sources[@]}"; do
  name=${source%:*}
  wants "$name" || continue
  description=$(echo "$downloads/${name}"_*.dsc)
  (cd "$work" && logged dpkg-source --no-check -x "$description" "$name")
  version=${description##*_}
  component "$name" "${version%.dsc}" "${source#*:}" "$work/$name/debian/copyright"
done
for header in "${headers[@]}"; do
  name=${header%:*}
  component "$name" "$(dpkg-query -W -f '${Version}' "$name")" "${header#*:}" "/usr/share/doc/$name/copyright"
done

if wants zlib; then
  archive z -D_LARGEFILE64_SOURCE=1 -DHAVE_HIDDEN -DHAVE_UNISTD_H -- "$work"/zlib/*.c
  cp "$work"/zlib/{zlib,zconf}.h "$prefix/include"
fi
if wants libzstd; then
  archive zstd -DZSTD_LEGACY_SUPPORT=0 -DZSTDLIB_VISIBLE= -DZSTDERRORLIB_VISIBLE= -- \
    "$work"/libzstd/lib/common/*.c "$work"/libzstd/lib/decompress/*.[cS]
  cp "$work"/libzstd/lib/{zstd,zstd_errors}.h "$prefix/include"
fi
if wants libisal; then
  logged make -C "$work/libisal" -f Makefile.unx -j2 lib units=igzip AS=nasm "host_cpu=$architecture" \
    "CC=$CC -fPIC -w -g0" "AR=$AR" lib_name=bin/isa-l.a
  cp "$work/libisal/bin/isa-l.a" "$prefix/lib/libisal.a"
  mkdir "$prefix/include/isa-l"
  cp "$work"/libisal/include/*.h "$prefix/include/isa-l"
  logged make -C "$work/libisal" -f Makefile.unx isa-l.h
  cp "$work/libisal/isa-l.h" "$prefix/include"
fi
if wants re2; then
  # Debian's sources come without the tables of Unicode.
  for table in unicode_casefold unicode_groups; do
    (cd "$work/re2/re2" && logged sh -c "python3 make_$table.py >$table.cc")
  done
  (cd "$work/re2/re2" && logged sh -c 'perl make_perl_groups.pl >perl_groups.cc')
  archive re2 "-I$work/re2" -pthread -- "$work"/re2/re2/*.cc "$work"/re2/util/{rune,strutil}.cc
  mkdir "$prefix/include/re2"
  cp "$work"/re2/re2/{re2,stringpiece,set,filtered_re2}.h "$prefix/include/re2"
fi
if wants protobuf; then
  # shellcheck disable=SC2016 # CMake's variable
  mapfile -t files < <(sed -n 's|^ *${protobuf_SOURCE_DIR}/\(.*\.cc\)$|\1|p' "$work/protobuf/cmake/libprotobuf-lite.cmake")
  archive protobuf-lite "-I$work/protobuf/src" -pthread -DHAVE_PTHREAD=1 -- "${files[@]/#/$work/protobuf/}"
  (cd "$work/protobuf/src" && find google \( -name '*.h' -o -name '*.inc' \) -exec cp --parents -t "$prefix/include" {} +)
fi
# These say of themselves, for CMake, which version they are.
for name in simdjson fmtlib; do
  wants "$name" || continue
  logged cmake -S "$work/$name" -B "$work/$name/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_CXX_FLAGS="${flags[*]:2}" -DBUILD_SHARED_LIBS=OFF -DCMAKE_SYSTEM_NAME=Linux \
    -DCMAKE_SYSTEM_PROCESSOR="$architecture" -DCMAKE_{C,CXX}_COMPILER_WORKS=1 -DCMAKE_AR="$(command -v "$AR")" \
    -DCMAKE_RANLIB="$(command -v "$RANLIB")" -DFMT_TEST=OFF -DFMT_DOC=OFF -DSIMDJSON_DEVELOPER_MODE=OFF
  logged cmake --build "$work/$name/build" --target install
done

ln -s /usr/include/boost /usr/include/cairo /usr/include/cxxopts.hpp "$prefix/include"
cp -r /usr/lib/cmake/cxxopts "$prefix/lib/cmake/"
# Debian's Python keeps some of its headers by machine.
mkdir -p "$prefix/include/$architecture-linux-gnu"
for folder in "/usr/include/$architecture-linux-gnu"/python3*; do
  if [[ -d $folder ]]; then ln -s "$folder" "$prefix/include/$architecture-linux-gnu/"; fi
done
rm -rf "$work"
echo "$made_from" >"$prefix/complete"
