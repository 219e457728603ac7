#!/usr/bin/env bash
# Does CMake say what is missing or too old, and what to do? Does docs/building.md name the same versions?
#   tests/package/check_dependencies.sh [CMAKE-OPTION]...
set -euo pipefail
root=$(realpath -- "$(dirname "${BASH_SOURCE[0]}")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
options=("$@")

# refuses SENTENCE CMAKE-OPTION...
refuses() {
  local sentence=$1 printed
  shift
  if printed=$(cmake -S "$root" -B "$work/build" "${options[@]}" "$@" 2>&1); then
    printf 'check_dependencies: configures with %s\n' "$*" >&2
    exit 1
  fi
  printed=$(tr -s ' \n' ' ' <<<"$printed")
  [[ $printed == *"$sentence"* ]] && return
  printf 'check_dependencies: with %s it does not say "%s":\n%s\n' "$*" "$sentence" "$printed" >&2
  exit 1
}

# package NAME VERSION: a CMake package that has nothing but a version.
package() {
  mkdir -p "$work/$1-$2"
  printf 'set(PACKAGE_VERSION %s)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n' "$2" >"$work/$1-$2/$1-config-version.cmake"
  touch "$work/$1-$2/$1-config.cmake"
  printf -- '-D%s_DIR=%s' "$1" "$work/$1-$2"
}

refuses "tbtrace works on Linux, not on FreeBSD" -DCMAKE_SYSTEM_NAME=FreeBSD
rm -rf "$work/build"
refuses "tbtrace needs {fmt} 9.1 or newer, which was not found. On Debian \`apt-get install libfmt-dev\`" \
  -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON
refuses "tbtrace needs simdjson 3.0 or newer" "$(package simdjson 2.2.3)" -DCMAKE_DISABLE_FIND_PACKAGE_fmt=OFF
refuses "known in versions 3.0 to 4.x, but 5.0.0 was found: set simdjson_DIR" "$(package simdjson 5.0.0)"
refuses "tbtrace::torch is linked statically only" -Usimdjson_DIR -DBUILD_SHARED_LIBS=ON -DTBTRACE_TORCH=ON

count=0
while read -r name oldest; do
  grep -qF "| $name | $oldest" "$root/docs/building.md" || {
    printf 'check_dependencies: docs/building.md does not say that %s is %s or newer\n' "$name" "$oldest" >&2
    exit 1
  }
  count=$((count + 1))
done < <(sed -nE 's/^ *tbtrace_depends_on\(([^ ]+) "[^"]*" "[^"]*" ([0-9.]+) .*/\1 \2/p' "$root/cmake/TbtraceDependencies.cmake")
((count > 0)) || exit 1
for package in Isal:ISA-L PNG:libpng Cairo:cairo Protobuf:protobuf; do
  oldest=$(sed -nE "s/^ *find_package\(${package%:*} ([0-9.]+) QUIET\).*/\1/p" "$root/cmake/TbtraceDependencies.cmake")
  grep -qF "| ${package#*:} | ${oldest:?} |" "$root/docs/building.md" || {
    printf 'check_dependencies: docs/building.md does not say that %s is %s or newer\n' "${package#*:}" "$oldest" >&2
    exit 1
  }
done
echo "check_dependencies: said what is missing, too old, too new"
