#!/usr/bin/env bash
# Does CMake say what is missing or too old, and what to do? Does docs/building.md name the same versions?
#   tests/package/check_dependencies.sh [CMAKE-OPTION]...
set -euo pipefail
root=$(realpath -- "$(dirname "${BASH_SOURCE[0]}")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
options=("$@")

# configured CMAKE-OPTION...: what CMake prints, in one line; its exit code.
configured() {
  local printed code=0
  printed=$(cmake -S "$root" -B "$work/build" "${options[@]}" "$@" 2>&1) || code=$?
  tr -s ' \n' ' ' <<<"$printed"
  return $code
}

# contains SENTENCE PRINTED CMAKE-OPTION...
contains() {
  local sentence=$1 printed=$2
  shift 2
  [[ $printed == *"$sentence"* ]] && return
  printf 'check_dependencies: with %s it does not say "%s":\n%s\n' "$*" "$sentence" "$printed" >&2
  exit 1
}

# refuses SENTENCE CMAKE-OPTION...
refuses() {
  local sentence=$1 printed
  shift
  if printed=$(configured "$@"); then
    printf 'check_dependencies: configures with %s\n' "$*" >&2
    exit 1
  fi
  contains "$sentence" "$printed" "$@"
}

# does_without SENTENCE CMAKE-OPTION...
does_without() {
  local sentence=$1 printed
  shift
  printed=$(configured "$@") || {
    printf 'check_dependencies: does not configure with %s:\n%s\n' "$*" "$printed" >&2
    exit 1
  }
  contains "$sentence" "$printed" "$@"
}

# package NAME VERSION: a CMake package that has nothing but a version.
package() {
  local folder=$work/$1-$2 name=${1,,}
  mkdir -p "$folder"
  printf 'set(PACKAGE_VERSION %s)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n' "$2" >"$folder/$name-config-version.cmake"
  touch "$folder/$name-config.cmake"
  printf -- '-D%s_DIR=%s' "$1" "$folder"
}

# header PATH LINE...: a header below a folder of its own, whose path it prints.
header() {
  local folder=$work/include-$RANDOM
  mkdir -p "$(dirname "$folder/$1")"
  printf '%s\n' "${@:2}" >"$folder/$1"
  printf '%s' "$folder"
}

# torch VERSION: a folder that looks like LibTorch.
torch() {
  mkdir -p "$work/torch-$1"/{lib,share/cmake/Torch}
  touch "$work/torch-$1/lib/libtorch.so"
  printf 'set(PACKAGE_VERSION "%s")\n' "$1" >"$work/torch-$1/share/cmake/Torch/TorchConfigVersion.cmake"
  printf '%s' "$work/torch-$1"
}

refuses "tbtrace works on Linux, not on FreeBSD" -DCMAKE_SYSTEM_NAME=FreeBSD
rm -rf "$work/build"
refuses "tbtrace needs {fmt} 9.1 or newer, which was not found. On Debian \`apt-get install libfmt-dev\`" \
  -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON
refuses "tbtrace needs simdjson 3.0 or newer" "$(package simdjson 2.2.3)" -DCMAKE_DISABLE_FIND_PACKAGE_fmt=OFF
refuses "known in versions 3.0 to 4.x, but 5.0.0 was found: set simdjson_DIR" "$(package simdjson 5.0.0)"

rm -rf "$work/build"
# LibTorch's folder where PyTorch's documentation has it brings parts of an old protobuf.
"$root/tests/package/make_libtorch_folder.sh" "$work/libtorch"
for prefix in "$work/libtorch" "$work/libtorch/share/cmake"; do
  rm -rf "$work/build"
  does_without "LibTorch 1.13.0: $work/libtorch/lib/libtorch.so" -DCMAKE_PREFIX_PATH="$prefix" \
    -DTBTRACE_PROTOBUF=ON -DTBTRACE_TORCH=ON -DBUILD_TESTING=OFF
  if found=$(grep "^Protobuf_.*$work/libtorch" "$work/build/CMakeCache.txt"); then
    printf 'check_dependencies: takes of LibTorch what is none of its own: %s\n' "$found" >&2
    exit 1
  fi
done

rm -rf "$work/build"
options+=(-DBUILD_TESTING=OFF -DTBTRACE_TORCH=OFF)
refuses "tbtrace is to be built with libpng, but libpng 1.6.22 or newer was not found. On Debian \`apt-get install libpng-dev\`" \
  -DTBTRACE_PNG=ON -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON
does_without "tbtrace without libpng: SummaryWriter takes no pixels (libpng 1.6.22 or newer was not found;" -DTBTRACE_PNG=AUTO
does_without "tbtrace without libpng: SummaryWriter takes no pixels (libpng 1.5.30 was found, and tbtrace needs 1.6.22 or newer;" \
  -DCMAKE_DISABLE_FIND_PACKAGE_PNG=OFF -DPNG_PNG_INCLUDE_DIR="$(header png.h '#define PNG_LIBPNG_VER_STRING "1.5.30"')"
refuses "but libpng 1.5.30 was found, and tbtrace needs 1.6.22 or newer" -DTBTRACE_PNG=ON
does_without "tbtrace without libpng: SummaryWriter takes no pixels (TBTRACE_PNG is OFF;" -DTBTRACE_PNG=OFF
does_without "tbtrace without libbacktrace: no files and lines in recorded C++ stacks" -DCMAKE_DISABLE_FIND_PACKAGE_Libbacktrace=ON
does_without "no event files for TensorBoard and no partials (protobuf 3.20.3 was found, and tbtrace needs 3.21 or newer;" \
  "$(package Protobuf 3.20.3)"
refuses "but protobuf 3.20.3 was found, and tbtrace needs 3.21 or newer" -DTBTRACE_PROTOBUF=ON
include=$(header google/protobuf/stubs/common.h '#define GOOGLE_PROTOBUF_VERSION 4022003')
does_without "protobuf 4.22.3 was found without its own CMake package, which links abseil" \
  -UProtobuf_DIR -DTBTRACE_PROTOBUF=AUTO -DProtobuf_INCLUDE_DIR="$include"
does_without "tbtrace without LibTorch: no tbtrace::torch (LibTorch 1.13 or newer was not found;" \
  -UProtobuf_INCLUDE_DIR -DTBTRACE_TORCH=AUTO -DCMAKE_DISABLE_FIND_PACKAGE_Torch=ON
refuses "LibTorch 1.13 or newer was not found. On Debian \`apt-get install libtorch-dev\`" -DTBTRACE_TORCH=ON
for value in ON AUTO; do
  refuses "but TBTRACE_TORCH_ROOT is /nowhere, which has no lib/libtorch.so" -DTBTRACE_TORCH=$value -DTBTRACE_TORCH_ROOT=/nowhere
  refuses "but LibTorch 1.12.1 was found, and tbtrace needs 1.13 or newer" -DTBTRACE_TORCH=$value -DTBTRACE_TORCH_ROOT="$(torch 1.12.1)"
done

does_without "There are no unit tests without GoogleTest 1.12 or newer: tools/setup.sh --tests installs it" \
  -DBUILD_TESTING=ON -DTBTRACE_TORCH=AUTO -DTBTRACE_TORCH_ROOT= -DCMAKE_DISABLE_FIND_PACKAGE_{GTest=ON,Torch=OFF}
[[ $(ctest --test-dir "$work/build" --show-only) == *" golden.refusals"* ]] || {
  echo "check_dependencies: without GoogleTest there are no golden cases" >&2
  exit 1
}
# README's command, with the system's LibTorch and with one of pip's in a virtual environment, which has a Python and
# is new enough for all examples.
venv=$work/venv/lib/python3/site-packages/torch
mkdir -p "$work/venv/bin"
touch "$work/venv/bin/python"
"$root/tests/package/make_libtorch_folder.sh" "$venv"
sed -i 's/1\.13\.[0-9]*/2.14.1/' "$venv/share/cmake/Torch/TorchConfigVersion.cmake"
for prefix in "" "$venv"; do
  for examples in OFF ON; do
    rm -rf "$work/build"
    does_without "Build files have been written to" -DCMAKE_BUILD_TYPE=Release -DTBTRACE_TORCH=ON \
      -DCMAKE_PREFIX_PATH="$prefix" -DBUILD_TESTING=ON -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON -DTBTRACE_EXAMPLES=$examples
    tests=$(ctest --test-dir "$work/build" --show-only)
    found=OFF
    [[ $tests != *" examples.train_resnet18"* ]] || found=ON
    [[ $found == "$examples" ]] || {
      printf 'check_dependencies: TBTRACE_EXAMPLES=%s: tests of examples are %s\n' "$examples" "$found" >&2
      exit 1
    }
    [[ $examples == OFF || -z $prefix || $tests == *" examples.infer_aot_inductor"* ]] || {
      echo "check_dependencies: with a LibTorch in a virtual environment AOTInductor is not tested" >&2
      exit 1
    }
  done
done
rm -rf "$work/build"
does_without "The tests reference.* and python.parity are left out: TBTRACE_SHARED, /nowhere, has no traces/ and parity/" \
  -DBUILD_TESTING=ON -DTBTRACE_SHARED=/nowhere

count=0
while read -r name oldest; do
  grep -qF "| $name | $oldest" "$root/docs/building.md" || {
    printf 'check_dependencies: docs/building.md does not say that %s is %s or newer\n' "$name" "$oldest" >&2
    exit 1
  }
  count=$((count + 1))
done < <(sed -nE 's/^ *tbtrace_depends_on\(([^ ]+) "[^"]*" "[^"]*" ([0-9.]+) .*/\1 \2/p' "$root/cmake/TbtraceDependencies.cmake")
((count > 0)) || exit 1
for package in ISA-L libzstd libpng cairo protobuf LibTorch; do
  oldest=$(sed -nE "s/^ *tbtrace_may_use\([A-Z]+ .* ([0-9.]+) $package .*/\1/p" "$root/cmake/TbtraceDependencies.cmake" "$root/CMakeLists.txt")
  grep -qF "| $package | ${oldest:?} |" "$root/docs/building.md" || {
    printf 'check_dependencies: docs/building.md does not say that %s is %s or newer\n' "$package" "$oldest" >&2
    exit 1
  }
done
echo "check_dependencies: said what is missing, too old, too new"
