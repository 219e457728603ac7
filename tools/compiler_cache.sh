#!/usr/bin/env bash
# CMake's launcher for compilers: ccache, also for what another clone compiled as a group of sources, or with clang and
# precompiled headers.
#   compiler_cache.sh COMPILER ARGUMENT...     CCACHE_BASEDIR: the checkout; CCACHE_PCH_EXTSUM=1
# clang writes the folder of the checkout into a precompiled header. So each clone compiles its own; beside it is a
# checksum of what it was made from, `<header>.sum`, which ccache compares instead of the header.
# Without ccache the compiler runs directly.
set -euo pipefail

command -v ccache >/dev/null || exec "$@"

checkout=${CCACHE_BASEDIR:-$PWD}
if [[ " $* " != *' -emit-pch '* ]]; then
  arguments=()
  previous=
  for argument; do
    # ccache does not see that this is a path, which it would make relative.
    if [[ $previous == -Xclang ]]; then argument=${argument#"$PWD"/}; fi
    # CMake includes the sources of a group by absolute paths; here they start at the checkout.
    if [[ $argument == */Unity/unity_*.cxx ]]; then
      group=$(<"$argument")
      argument=${argument%.cxx}.relative.cxx
      printf '%s\n' "${group//"#include \"$checkout/"/"#include \""}" >"$argument"
      arguments+=(-iquote "$checkout")
    fi
    arguments+=("$argument")
    previous=$argument
  done
  exec ccache "${arguments[@]}"
fi

ccache "$@"
output='' dependencies='' previous=''
for argument; do
  case $previous in
    -o) output=$argument ;;
    -MF) dependencies=$argument ;;
  esac
  previous=$argument
done
# The arguments, and all headers with their contents; paths in the checkout without its folder.
{
  printf '%s\n' "${@//"$checkout"/}"
  sed -e 's/^.*: //' -e 's/\\$//' "$dependencies" | xargs sha256sum | sed "s|$checkout||"
} | sha256sum >"$output.sum"
