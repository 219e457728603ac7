#!/usr/bin/env bash
# Sets up, builds, trains a ResNet-18 with LibTorch that records itself, and shows what tbtrace does with a saved
# PyTorch trace.
#   tools/demo.sh [TRACE]   (TRACE: .json or .json.gz; without one, a training step of ResNet-18 on a CPU, and the
#                            summary of two steps of a perceptron on a GPU)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail() {
  printf 'demo: %s\n' "$*" >&2
  exit 1
}

(($# <= 1)) || fail "takes one trace or none"
if (($# == 1)); then
  trace=$(realpath -- "$1")
  first_page=$trace
else
  trace=examples/traces/resnet18_training.json.gz
  first_page=tests/data/h200/perceptron.json.gz
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

echo "[1/5] setting up (the first time a minute or two)"
tools/setup.sh

echo "[2/5] building (the first time two or three minutes)"
logged cmake --preset release -DBUILD_TESTING=OFF -DTBTRACE_TORCH=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=25
logged cmake --build --preset release --target tbtrace_program example_train_resnet18

echo "[3/5] training with LibTorch, and recording (examples/train_resnet18.cc)"
rm -rf logs demo-output/report.html demo-output/flame.svg demo-output/operators.csv
echo
build/examples/example_train_resnet18 logs/resnet18 2>>"$log" || fail "the training failed; see $PWD/$log"

echo
tbtrace=build/tools/tbtrace
echo "[4/5] what the time went to, and what to do about it: tbtrace summary $first_page"
echo
"$tbtrace" summary "$first_page"

echo
echo "[5/5] operators, a flame graph and logs of $trace"
mkdir -p demo-output
echo
"$tbtrace" ops "$trace" --sort-by self_cpu_time_total --row-limit 10
"$tbtrace" ops "$trace" --sort-by self_cpu_time_total -o demo-output/operators.csv
"$tbtrace" flamegraph "$trace" -o demo-output/flame.svg
"$tbtrace" report "$first_page" -o demo-output/report.html
"$tbtrace" convert -q "$trace" --run converted -o logs >/dev/null

cat <<END

Above: the ten operators with the most CPU time of their own, of the training and of the saved trace, as torch.profiler
prints them. Between the two: the first page about a trace, with its findings (docs/findings.md). Written:
  logs/resnet18              what the training recorded, two windows of three steps: traces and their summaries
  logs/converted             the same of the saved trace (docs/tensorboard.md has pictures of all views)
  demo-output/report.html    the page about it: open it in a browser, begin with its findings
                             (file://$PWD/demo-output/report.html)
  demo-output/flame.svg      where the CPU time went: open it in a browser, click to zoom, Ctrl+F to search
                             (file://$PWD/demo-output/flame.svg)
  demo-output/operators.csv  all operators: open it in a spreadsheet

A trace of your own:  tools/demo.sh TRACE.json.gz
All that it can do:   $tbtrace --help

TensorBoard shows both, with the tab of tbtrace (its Python package takes a few minutes to build); in $PWD:
  python3 -m venv env && env/bin/pip install '.[tensorboard]'
  env/bin/tbtrace tensorboard logs        # then http://localhost:6006/#tbtrace
END
