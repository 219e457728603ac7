#!/usr/bin/env bash
# Installs a build into a temporary prefix, or unpacks a Debian package, moves the prefix, and builds and runs
# consumers against it: a CMake project, a call of the compiler with what pkg-config says, and CMake projects
# that ask for components.
#   tests/package/check_package.sh [--only-torch] BUILD|DEB VERSION [CMAKE-OPTION]...   (options for the consumer's build)
# --only-torch: the consumer that uses LibTorch, and no other.
set -euo pipefail
only_torch=
if [[ $1 == --only-torch ]]; then
  only_torch=1
  shift
fi
build=$(realpath -- "$1")
version=$2
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(realpath -- "$here/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  printf 'check_package: %s\n' "$*" >&2
  exit 1
}

zsh_folder=site-functions
if [[ $build == *.deb ]]; then
  zsh_folder=vendor-completions
  if command -v zsh >/dev/null; then
    # shellcheck disable=SC2016 # zsh's variable
    [[ $(zsh -f -c 'print -l $fpath') == *"/usr/share/zsh/$zsh_folder"* ]] || fail "zsh does not read $zsh_folder"
  fi
  dpkg-deb --extract "$build" "$work/deb"
  mv "$work/deb/usr" "$work/prefix"
  for library in libc6 libsimdjson libfmt; do
    [[ $(dpkg-deb --field "$build" Depends) == *$library* ]] || fail "the package does not depend on $library"
  done
  [[ $(dpkg-deb --field "$build" Depends) != *cairo* ]] || fail "the package depends on cairo"
  if grep -q "^Cairo_INCLUDE_DIR:PATH=/" "$(dirname "$build")/CMakeCache.txt"; then
    [[ $(dpkg-deb --field "$build" Recommends) == *libcairo2* ]] || fail "the package does not recommend cairo"
  fi
else
  cmake --install "$build" --prefix "$work/first" >"$work/log" 2>&1 || fail "$(tail -n 20 "$work/log")"
  mv "$work/first" "$work/prefix"
  if grep -qx "CMAKE_INSTALL_PREFIX:PATH=/usr" "$build/CMakeCache.txt"; then zsh_folder=vendor-completions; fi
fi
prefix=$work/prefix
with_torch=OFF
[[ -z $(find "$prefix" -name tbtraceTorchTargets.cmake) ]] || with_torch=ON

for file in bin/tbtrace include/tbtrace/{device,flame_graph,operators,report,status,trace,version}.h share/doc/tbtrace/LICENSE; do
  [[ -f $prefix/$file ]] || fail "$file is not installed"
done
for file in man/man1/tbtrace.1 bash-completion/completions/tbtrace zsh/$zsh_folder/_tbtrace \
  fish/vendor_completions.d/tbtrace.fish; do
  [[ -s $prefix/share/$file ]] || fail "share/$file is not installed"
done
headers=$(cd "$root/include/tbtrace" && echo *.h)
installed=$(cd "$prefix/include/tbtrace" && echo *)
[[ $headers == "$installed" ]] || fail "installed headers are '$installed', not '$headers'"
config=$(find "$prefix" -name tbtraceConfig.cmake)
torch=$(sed -nE 's/.*_tbtrace_torch_at_build "(.*)".*/\1/p' "$config")
if named=$(grep -rF -e "$root" -e "$build" -e "$work/first" "$prefix" --include='*.cmake' --include='*.h' |
  sed "s|${torch:-/nowhere}||g" | grep -F -e "$root" -e "$build" -e "$work/first"); then
  fail "these name a folder of the build: $named"
fi

# The shared libraries have the minor version in their sonames until 1.0. They offer what public headers declare, and nothing
# of a folder of src/ or of another library.
library=$(find "$prefix" -name libtbtrace.so)
libraries=()
if [[ -n $library ]]; then
  libraries=("$library")
  if [[ $with_torch == ON ]]; then libraries+=("$(dirname "$library")/libtbtrace_torch.so"); fi
  abi=${version%%.*}
  if [[ $abi == 0 ]]; then abi=${version%.*}; fi
  folders=$(cd "$root/src" && echo */ | tr -d / | tr ' ' '|')
  for file in "${libraries[@]}"; do
    [[ $(readelf --dynamic "$file") == *"Library soname: [$(basename "$file").$abi]"* ]] ||
      fail "the soname of $(basename "$file") is not $(basename "$file").$abi"
    offered=$(nm --dynamic --demangle --defined-only "$file" | sed 's/^[0-9a-f]* . //' | grep -vE '^(__bss_start|_edata|_end)$')
    [[ $offered == *"tbtrace::read_trace("* ]] || fail "$(basename "$file") does not offer read_trace()"
    if inner=$(grep -E "^tbtrace::($folders)::|^(google|fmt|simdjson)::|^[A-Za-z_0-9]+$" <<<"$offered"); then
      fail "$(basename "$file") offers what is none of its own: $(head -n 5 <<<"$inner")"
    fi
  done
fi

# cairo is opened at run time.
for file in "$prefix/bin/tbtrace" "${libraries[@]}"; do
  [[ $(readelf --dynamic "$file") != *"[libcairo"* ]] || fail "$(basename "$file") is linked with cairo"
done

[[ $("$prefix/bin/tbtrace" --version) == "tbtrace $version" ]] || fail "the installed program is not $version"

# LibTorch as PyTorch's documentation has CMake find it: in CMAKE_PREFIX_PATH. Its folder brings parts of an old protobuf.
prefixes=$prefix
if [[ $with_torch == ON ]]; then
  if [[ -z $torch ]]; then
    torch=$work/libtorch
    "$here/make_libtorch_folder.sh" "$torch"
  fi
  prefixes+=";$torch"
fi
{ cmake -S "$here/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefixes" -DWITH_TORCH=$with_torch "$@" >"$work/log" 2>&1 &&
  cmake --build "$work/consumer" ${only_torch:+--target my_training} >>"$work/log" 2>&1; } || fail "$(tail -n 30 "$work/log")"
grep -q "^tbtrace_DIR:PATH=$prefix/" "$work/consumer/CMakeCache.txt" || fail "another tbtrace was found"

if [[ -n $only_torch && $with_torch == OFF ]]; then fail "there is no tbtrace_torch"; fi
if [[ $with_torch == ON ]]; then
  printed=$("$work/consumer/my_training" 2>&1) || fail "the consumer with LibTorch failed: $printed"
  for words in "forward" "aten::mm" "[[2, 3], [3, 4]]" "Self CPU Mem"; do
    [[ $printed == *"$words"* ]] || fail "the consumer with LibTorch did not print '$words': $printed"
  done
fi
if [[ -n $only_torch ]]; then
  echo "check_package: installed, found, linked, run"
  exit
fi

# check_program PROGRAM
check_program() {
  local printed line
  printed=$("$1" "$root/tests/data/stacks.json") || fail "$1 failed: $printed"
  for line in "$version" "Self CPU time total: 400.000us" "train.py(30): <module>;train.py(12): step 190000"; do
    [[ $'\n'$printed$'\n' == *$'\n'*"$line"*$'\n'* ]] || fail "$1 did not print '$line': $printed"
  done
}
check_program "$work/consumer/program"
# Without cairo, which the loader then finds as a file that is not a library.
mkdir "$work/no_cairo"
echo "not a library" >"$work/no_cairo/libcairo.so.2"
LD_LIBRARY_PATH=$work/no_cairo check_program "$work/consumer/program"

# The traces of a job: 64 ranks as one set, a reading that is cancelled, and one that failed.
python3 "$root/tests/e2e/make_ranks.py" "$work/ranks" --ranks 64
kernels=$("$work/consumer/ranks" list "$work/ranks") || fail "ranks failed: $kernels"
[[ ${kernels##*$'\n'} == "64 traces" ]] || fail "64 ranks are '${kernels##*$'\n'}'"
for line in $'63\tampere_s16816gemm_f32_64x64_nn\taten::addmm\tnn.Module: Linear_0\t2' \
  $'0\ttriton_relu_0\taten::relu\tnn.Module: Net_0\t1' \
  $'7\tncclDevKernel_AllReduce_Sum_f32_RING_LL\tno operator\tno module\t1'; do
  [[ $'\n'$kernels$'\n' == *$'\n'"$line"$'\n'* ]] || fail "kernels of 64 ranks lack '$line': $kernels"
done
printed=$("$work/consumer/ranks" cancel "$root/tests/data/stacks.json") || fail "the reading was not cancelled"
[[ $printed == "reading was cancelled" ]] || fail "a cancelled reading says '$printed'"
if printed=$("$work/consumer/ranks" misuse /nowhere.json 2>&1); then fail "a result that failed can be used"; fi
[[ $printed == *"tbtrace: the value of a failed Result was used: cannot open: No such file"* ]] || fail "a program that uses a failed result ends with '$printed'"
command -v pkg-config >/dev/null || fail "there is no pkg-config; tools/setup.sh --tests installs it"
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$work/consumer/CMakeCache.txt")
flags=$(sed -n 's/^CMAKE_CXX_FLAGS:[A-Z]*=//p' "$work/consumer/CMakeCache.txt")
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tbtrace.pc)")
export PKG_CONFIG_PATH
[[ $(pkg-config --modversion tbtrace) == "$version" ]] || fail "pkg-config knows another version"
# shellcheck disable=SC2046,SC2086 # words of commands
"$compiler" -std=c++20 $flags "$here/consumer/main.cc" $(pkg-config --cflags --libs tbtrace) -o "$work/by_pkg_config" \
  >"$work/log" 2>&1 || fail "$(tail -n 20 "$work/log")"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir tbtrace) check_program "$work/by_pkg_config"

# asks WHAT-IS-PRINTED COMPONENT... [CMAKE-OPTION]...: of a project that needs these components.
asks() {
  local sentence=$1 printed components=
  shift
  while (($# > 0)) && [[ $1 != -* ]]; do
    components+="$1;"
    shift
  done
  rm -rf "$work/components"
  printed=$(cmake -S "$here/components" -B "$work/components" -DCMAKE_PREFIX_PATH="$prefix" \
    -DWANTED="$components" "${options[@]}" "$@" 2>&1 | tr -s ' \n' ' ') || true
  [[ $printed == *"$sentence"* ]] || fail "with the components $components and $* CMake does not say '$sentence': $printed"
}
options=("$@")
asks "no torch -- Configuring done" core
asks "tbtrace has the components core and torch, not 'rocket'" core rocket
# Other versions of what the static library was compiled with, and a library that is not there.
if [[ -z $library ]]; then
  for package in fmt:8.1.1 simdjson:3.999.0; do
    name=${package%:*}
    mkdir -p "$work/other_$name"
    printf 'set(PACKAGE_VERSION %s)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n' "${package#*:}" \
      >"$work/other_$name/$name-config-version.cmake"
    touch "$work/other_$name/$name-config.cmake"
    asks "which it was built with, but ${package#*:} was found" core "-D${name}_DIR=$work/other_$name"
  done
  cp "$config" "$work/config"
  sed -i -E 's/(tbtrace_find_libraries\(_tbtrace_problem .*)\)/\1 other=libother.so.7)/' "$config"
  asks "tbtrace needs libother.so.7, which it was built with and which was not found" core
  cp "$work/config" "$config"
else
  ! grep -qE 'tbtrace_find_[a-z]*\(_tbtrace_problem [^)]' "$config" || fail "the shared library asks for others"
fi
if [[ $with_torch == OFF ]]; then
  asks "no torch -- Configuring done"
  asks "this tbtrace was built without LibTorch; build it with -DTBTRACE_TORCH=ON" torch
else
  asks "with torch -- Configuring done" core torch
  asks "with torch -- Configuring done"
  asks "which it was built with, but no LibTorch was found; set TBTRACE_TORCH_ROOT" torch -DTBTRACE_TORCH_ROOT=/nowhere
  asks "no torch -- Configuring done" -DTBTRACE_TORCH_ROOT=/nowhere
  # LibTorchs of another version, and of the same one without CUDA.
  for torch in 9.8.7 "$(sed -nE 's/.*needs LibTorch ([0-9][^ ,]*).*/\1/p' "$config")"; do
    mkdir -p "$work/torch-$torch"/{lib,share/cmake/Torch}
    touch "$work/torch-$torch/lib/libtorch.so" "$work/torch-$torch/share/cmake/Torch/TorchConfig.cmake"
    printf 'set(PACKAGE_VERSION "%s")\n' "$torch" >"$work/torch-$torch/share/cmake/Torch/TorchConfigVersion.cmake"
  done
  asks "which it was built with, but LibTorch 9.8.7 was found; set TBTRACE_TORCH_ROOT" torch \
    -DTBTRACE_TORCH_ROOT="$work/torch-9.8.7"
  asks "which it was built with, but LibTorch 9.8.7 was found; set TBTRACE_TORCH_ROOT" torch \
    -DCMAKE_PREFIX_PATH="$prefix;$work/torch-9.8.7/share/cmake"
  sed -i -E 's/(elseif\(")(OFF|ON)(" AND NOT TARGET LibTorch::c10_cuda)/\1ON\3/' "$config"
  asks "which it was built with, but a LibTorch without CUDA was found" torch -DTBTRACE_TORCH_ROOT="$work/torch-$torch"
fi
echo "check_package: installed, found, linked, run"
