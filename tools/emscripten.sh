#!/usr/bin/env bash
# Sets up Emscripten, which compiles to WebAssembly, and prints the folder of its commands: emcc, em++, emar and others.
#   tools/emscripten.sh          a root of Debian 13 below ~/.cache/tbtrace/emscripten, made when it is not there
#   tools/emscripten.sh --check  prints nothing; fails where it is not there
# Debian 12's own is too old for <ranges>. The commands run in a namespace of mounts in which /usr and /etc are those of
# Debian 13 and all else is this machine's, so that paths mean the same. That, and making the root, needs root.
set -euo pipefail

fail() {
  printf 'emscripten: %s\n' "$*" >&2
  exit 1
}
(($# == 0)) || [[ $# == 1 && $1 == --check ]] || fail "takes --check or nothing"

folder=${XDG_CACHE_HOME:-${HOME:?}/.cache}/tbtrace/emscripten
commands=$folder/commands
log=$folder/setup.log
release=trixie
if [[ -x $commands/em++ ]]; then
  (($# > 0)) || printf '%s\n' "$commands"
  exit
fi
(($# == 0)) || exit 1

((EUID == 0)) || fail "making a root of Debian 13 needs root: run this once as root"
command -v debootstrap >/dev/null || fail "there is no debootstrap; install debootstrap"
mirror=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } |
  sed -nE 's/^URIs: *([^ ]*\/debian)\/?( .*)?$/\1/p; s/^deb (\[[^]]*\] )?([^ ]*\/debian)\/? .*/\2/p' | sed -n 1p)
[[ -n $mirror ]] || fail "apt's sources name no mirror of Debian"
mkdir -p "$folder"
(
  flock 9 # two clones may want it at once
  [[ ! -x $commands/em++ ]] || exit 0
  if [[ ! -f $folder/root/.complete ]]; then
    echo "emscripten: making a root of Debian 13 with Emscripten in $folder/, some 2.5 GB" >&2
    rm -rf "$folder/root"
    debootstrap --variant=minbase --include=emscripten "$release" "$folder/root" "$mirror" >"$log" 2>&1 </dev/null || {
      tail -n 20 "$log" >&2
      fail "debootstrap failed (all of its output is in $log); is there a network?"
    }
    rm -f "$folder"/root/var/cache/apt/archives/*.deb
    touch "$folder/root/.complete"
  fi
  rm -rf "$commands" "$commands.new"
  mkdir "$commands.new"
  cat >"$commands.new/em++" <<COMMAND
#!/bin/bash
# Headers of libraries are this machine's: Boost, cxxopts. A build would look in vain for the compiler's own headers, which
# are not there outside, so dependencies go without these.
unset NODE_EXTRA_CA_CERTS
words=()
for word; do
  [[ \$word != -MD ]] || word=-MMD
  words+=("\$word")
done
exec unshare --mount -- /bin/sh -c 'mount --bind /usr/include "\$0/usr/include" && mount --rbind "\$0/usr" /usr &&
  mount --bind "\$0/etc" /etc && exec "\$@"' '$folder/root' "\${0##*/}" "\${words[@]}"
COMMAND
  chmod +x "$commands.new/em++"
  for name in emcc emar emranlib emnm em-config; do ln -s em++ "$commands.new/$name"; done
  ln -s ../root/usr/share/emscripten/cmake "$commands.new/cmake" # CMake's modules for it
  mv "$commands.new" "$commands"
) 9>"$folder/lock"
printf '%s\n' "$commands"
