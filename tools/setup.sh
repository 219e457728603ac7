#!/usr/bin/env bash
# Installs what tbtrace needs on Debian 12 or 13. The tests need 12: clang-format, clang-tidy and Python are those of 12.
#   tools/setup.sh           to build it, to make a package, and to run the demo
#   tools/setup.sh --tests   and for its tests: compilers' tools, Chromium, pinned Python packages as .venv,
#                            what the Python package is built and tested with as .venv-python, and the newer
#                            LibTorch as .venv-torch
#   tools/setup.sh --torch213   only LibTorch 2.13, as .venv-torch213, for a part of tools/test.sh --all
#   tools/setup.sh --integrations   only frameworks that use torch, as .venv-integrations, also for tools/test.sh --all
#   tools/setup.sh --clear-caches   removes what this and tools/test.sh keep for all clones: Python packages, what was
#                            compiled, what clang-tidy found clean, what consumers said of originals
# Does nothing, and needs no network, when all of it is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf 'setup: %s\n' "$*"; }
fail() {
  printf 'setup: %s\n' "$*" >&2
  exit 1
}

build_packages=(
  g++ cmake ninja-build
  libsimdjson-dev   # JSON
  zlib1g-dev        # gzip
  libisal-dev       # gzip, several times as fast
  libzstd-dev       # zstd
  libcxxopts-dev    # command line
  libre2-dev        # expressions for names
  libfmt-dev        # text
  libboost-dev      # distributions for statistics
  libprotobuf-dev protobuf-compiler   # TensorBoard's messages
  libpng-dev        # PNG files
  libcairo2-dev     # pictures as PNG; a font comes with what it depends on
  libtorch-dev      # programs that record themselves
  libgloo-dev       # headers of the Gloo in LibTorch, for an example of two processes
  libarchive13      # zip, tar, xz and bzip2; opened at run time
  dpkg-dev file     # tools/package.sh
  nasm              # tools/release.sh
  debootstrap       # tools/emscripten.sh
  unicode-data      # tools/wheel.sh
  python3-dev python3-venv   # the Python package
)
test_packages=(
  libgtest-dev libgmock-dev libbenchmark-dev
  ccache
  mold                       # links the preset dev
  pkgconf                    # a consumer of the package
  clang libclang-rt-dev      # fuzz targets, and a second compiler
  llvm                       # names in what its sanitizers report
  clang-format clang-tidy
  openjdk-17-jre-headless    # Spark, one of the engines that jobs run on
  chromium                   # looks at pages and pictures
  firefox-esr                # opens the page too
  node-typescript            # tests of the page's modules, and checks of their types; brings Node
  groff-base zsh fish        # take the man page and the completions
)

cache=${XDG_CACHE_HOME:-${HOME:-$PWD}/.cache}/tbtrace
with_tests=false
with_torch213=false
with_integrations=false
case "$#,${1-}" in
  0,) ;;
  1,--tests) with_tests=true ;;
  1,--torch213) with_torch213=true ;;
  1,--integrations) with_integrations=true ;;
  1,--clear-caches)
    say "removing $cache/"
    rm -rf "$cache"
    exit
    ;;
  *) fail "takes --tests, --torch213, --integrations, --clear-caches or nothing" ;;
esac

log=.cache/setup.log
mkdir -p "${log%/*}"
: >"$log"

# Runs a command with its output in the log; shows the log's end if it fails.
# logged WHAT-TO-DO COMMAND...
logged() {
  local remedy=$1
  shift
  "$@" >>"$log" 2>&1 </dev/null && return
  tail -n 10 "$log" >&2
  fail "'$*' failed (all of its output is in $PWD/$log); $remedy"
}

if ! command -v apt-get >/dev/null; then
  fail "needs apt of Debian 12 or 13; elsewhere install by hand what this script lists"
fi

packages=("${build_packages[@]}")
if $with_tests; then packages+=("${test_packages[@]}"); fi
missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status} ' "$package" 2>/dev/null || true)
  [[ " $state" == *" installed "* ]] || missing+=("$package")
done

if ((${#missing[@]} > 0)); then
  as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      fail "missing: ${missing[*]}; installing needs root and there is no sudo: run this script once as root"
    say "asking sudo, to install packages"
    sudo true || fail "sudo said no; run this script once as root"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  logged "is there a network?" "${apt[@]}" update
  logged "is there a network? else repair what apt complains of and run this again" \
    "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
fi

# linked FOLDER: whether a checkout has a link to it; those that had are in FOLDER/.links.
linked() {
  local link
  [[ -f $1/.links ]] || return 1
  while read -r link; do
    if [[ $(readlink "$link" || true) == "$1" ]]; then return 0; fi
  done <"$1/.links"
  return 1
}

# Python packages serve all clones: they are in the user's cache, by what they were made from, and the checkout has a
# link to them. Those that a checkout links to stay, and for each purpose the two besides that were used last.
#   venv LINK REQUIREMENTS [OTHERS]: a virtual environment; what OTHERS names comes without what it would install
#   besides. Another one is made where a file changes whose name begins like REQUIREMENTS, or Python.
venv() {
  local link=$1 requirements=$2 others=${3-} log=.cache/setup$1.log
  local made_from kind=$cache/python/${link#.} folder
  made_from=$(cat "${requirements%.txt}"*.txt <(/usr/bin/python3 --version) | sha256sum | cut -c 1-16)
  folder=$kind/$made_from
  mkdir -p "$kind"
  : >"$log"
  (
    flock 9  # two clones may want it at once
    if [[ ! -f $folder/.complete ]]; then
      say "installing Python packages into $folder/"
      # Without --no-compile pip compiles all of their Python, half a minute's work, for the few modules that are used.
      pip=("$folder/bin/python" -m pip install --no-input --disable-pip-version-check --no-compile)
      logged "remove $folder/ and run this again" /usr/bin/python3 -m venv --clear "$folder"
      logged "is there a network?" "${pip[@]}" -r "$requirements"
      if [[ -n $others ]]; then logged "is there a network?" "${pip[@]}" --no-deps -r "$others"; fi
      touch "$folder/.complete"
    fi
    if [[ $(readlink "$link" || true) != "$folder" ]]; then
      rm -rf "$link"
      ln -s "$folder" "$link"
    fi
    grep -qxF "$PWD/$link" "$folder/.links" 2>/dev/null || printf '%s\n' "$PWD/$link" >>"$folder/.links"
    touch "$folder"
    besides=0
    while read -r _ old; do
      if ! linked "$old" && ((++besides > 2)); then rm -rf "$old"; fi
    done < <(find "$kind" -mindepth 1 -maxdepth 1 -type d -printf '%T@ %p\n' | sort -rn)
  ) 9>"$kind/lock"
}

if $with_torch213; then venv .venv-torch213 tests/libtorch/torch_2_13.txt; fi
if $with_integrations; then
  venv .venv-integrations tests/integrations/requirements.txt tests/integrations/requirements_torch.txt
fi
if $with_tests; then
  # One downloads while the other one unpacks.
  venv .venv-torch tests/libtorch/requirements.txt &
  of_torch=$!
  venv .venv-python tests/python/requirements.txt &
  of_python=$!
  venv .venv tests/e2e/requirements.txt tests/e2e/requirements_hta.txt &
  made=0
  wait $! || made=$?
  wait $of_torch || made=$?
  wait $of_python || made=$?
  exit $made
fi
