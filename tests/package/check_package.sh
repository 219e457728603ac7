#!/usr/bin/env bash
# Installs a build into a temporary prefix, moves the prefix, and builds and runs a consumer against it.
#   tests/package/check_package.sh BUILD VERSION [CMAKE-OPTION]...   (options for the consumer's build)
set -euo pipefail
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

cmake --install "$build" --prefix "$work/first" >"$work/log" 2>&1 || fail "$(tail -n 20 "$work/log")"
mv "$work/first" "$work/prefix"
prefix=$work/prefix

for file in bin/tbtrace include/tbtrace/{analyses,device,report,status,trace,version,writers}.h; do
  [[ -f $prefix/$file ]] || fail "$file is not installed"
done
for file in man/man1/tbtrace.1 bash-completion/completions/tbtrace zsh/site-functions/_tbtrace \
  fish/vendor_completions.d/tbtrace.fish; do
  [[ -s $prefix/share/$file ]] || fail "share/$file is not installed"
done
headers=$(cd "$root/include/tbtrace" && echo *.h)
installed=$(cd "$prefix/include/tbtrace" && echo *)
[[ $headers == "$installed" ]] || fail "installed headers are '$installed', not '$headers'"
if named=$(grep -rlF -e "$root" -e "$build" -e "$work/first" "$prefix" --include='*.cmake' --include='*.h'); then
  fail "these name a folder of the build: $named"
fi

[[ $("$prefix/bin/tbtrace" --version) == "tbtrace $version" ]] || fail "the installed program is not $version"

cmake -S "$here/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" "$@" >"$work/log" 2>&1 &&
  cmake --build "$work/consumer" >>"$work/log" 2>&1 || fail "$(tail -n 30 "$work/log")"
grep -q "^tbtrace_DIR:PATH=$prefix/" "$work/consumer/CMakeCache.txt" || fail "another tbtrace was found"

printed=$("$work/consumer/program" "$root/tests/data/stacks.json") || fail "the consumer failed: $printed"
for line in "$version" "Self CPU time total: 800.000us" "train.py(30): <module>;train.py(12): step 190000"; do
  [[ $'\n'$printed$'\n' == *$'\n'*"$line"*$'\n'* ]] || fail "the consumer did not print '$line': $printed"
done
if [[ -n $(find "$prefix" -name tbtraceTorchTargets.cmake) ]]; then
  printed=$("$work/consumer/my_training" 2>&1) || fail "the consumer with LibTorch failed: $printed"
  for words in "forward" "aten::mm" "[[2, 3], [3, 4]]" "Self CPU Mem"; do
    [[ $printed == *"$words"* ]] || fail "the consumer with LibTorch did not print '$words': $printed"
  done
fi
echo "check_package: installed, found, linked, run"
