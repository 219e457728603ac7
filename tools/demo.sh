#!/usr/bin/env bash
# Sets up, builds and shows what tbtrace does with a saved PyTorch trace.
#   tools/demo.sh [TRACE]   (TRACE: .json or .json.gz; a ResNet-18 training step if none is named)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail() {
  printf 'demo: %s\n' "$*" >&2
  exit 1
}

(($# <= 1)) || fail "takes one trace or none"
if (($# == 1)); then
  trace=$(realpath -- "$1")
else
  trace=examples/traces/resnet18_training.json.gz
fi
cd "$root"
[[ -r $trace && ! -d $trace ]] || fail "cannot read $trace; name a trace that is there"

log=build/demo.log
mkdir -p build
: >"$log"

# Runs a command with its output in the log; shows the log's end if it fails.
logged() {
  "$@" >>"$log" 2>&1 </dev/null && return
  tail -n 30 "$log" >&2
  fail "'$*' failed (all of its output is in $PWD/$log); if build/ was made by something else, remove it and run this again"
}

echo "[1/3] setting up (the first time a minute or two)"
tools/setup.sh

echo "[2/3] building (the first time a minute or two)"
logged cmake --preset release -DBUILD_TESTING=OFF
logged cmake --build --preset release --target tbtrace_program

echo "[3/3] summarising $trace"
tbtrace=build/tools/tbtrace
mkdir -p demo-output
rm -rf demo-output/flame.svg demo-output/operators.csv demo-output/logs
echo
"$tbtrace" ops "$trace" --sort-by self_cpu_time_total --row-limit 10
"$tbtrace" ops "$trace" --sort-by self_cpu_time_total -o demo-output/operators.csv
"$tbtrace" flamegraph "$trace" -o demo-output/flame.svg
"$tbtrace" convert -q "$trace" --run demo -o demo-output/logs >/dev/null

cat <<END

Above: the ten operators with the most CPU time of their own, as torch.profiler prints them. Written:
  demo-output/flame.svg      where the CPU time went: open it in a browser, click to zoom, Ctrl+F to search
                             (file://$PWD/demo-output/flame.svg)
  demo-output/operators.csv  all operators: open it in a spreadsheet
  demo-output/logs           a log directory for TensorBoard (docs/tensorboard.md has pictures of it)

A trace of your own:  tools/demo.sh TRACE.json.gz
All that it can do:   $tbtrace --help

TensorBoard with its profiler plugin (pip install tensorboard==2.21.0 torch-tb-profiler==0.4.3) shows the log directory:
  tensorboard --logdir $PWD/demo-output/logs
END
