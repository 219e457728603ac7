#!/usr/bin/env bash
# Builds and runs what only a machine with an NVIDIA GPU can check.
#   tests/gpu/run_all.sh [--torch FOLDER] [--parts LIST] [--seconds N] [RESULTS]
#     --torch FOLDER   a LibTorch for CUDA, pip's torch/ or the zip; else that of python3
#     --parts LIST     such as 1,2a,4; all without (tests/gpu/judge.py has them)
#     --seconds N      no part begins after them, and none goes on; 570 without, of which the build takes its share
#     RESULTS          gets traces, logs and figures.json; build-gpu/results without
# TBTRACE_DEPENDENCIES may name prefix folders, with colons between, that have simdjson, fmt, protobuf, png, zlib,
# cxxopts and RE2. A line for each part, PASS or FAIL, and 'gpu: N passed, M failed' at the end; the exit code is 0
# only if all passed.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build-gpu
results=
torch_root=
parts=
seconds=570
while (($# > 0)); do
  case "$1" in
    --torch) torch_root=$2; shift 2 ;;
    --parts) parts=$2; shift 2 ;;
    --seconds) seconds=$2; shift 2 ;;
    -*) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
    *) results=$1; shift ;;
  esac
done
results=${results:-$build/results}
mkdir -p "$build" "$results"
results=$(cd "$results" && pwd)
log=$results/build.log
: >"$log"

fail_build() {
  grep -m 5 -A 4 -E '^CMake Error|error:|undefined reference' "$log" >&2 || tail -n 25 "$log" >&2
  printf 'FAIL 0   build: %s; all of its output is in %s\ngpu: 0 passed, 1 failed\n' "$1" "$log"
  exit 1
}

# Programs of the Python that has torch, and those of CUDA, need not be on the PATH.
python_bin=$(dirname "$(python3 -c 'import sys; print(sys.executable)')")
export CUDA_HOME=${CUDA_HOME:-/usr/local/cuda}
export CUDAToolkit_ROOT=${CUDAToolkit_ROOT:-$CUDA_HOME}
export PATH=$PATH:$python_bin:$CUDA_HOME/bin
if [[ -z $torch_root ]]; then
  torch_root=$(python3 -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])') ||
    fail_build "python3 has no torch; name a LibTorch with --torch"
fi
torch_root=$(cd "$torch_root" && pwd) || fail_build "there is no folder $torch_root"
torch_version=$(sed -n "s/^__version__ = '\(.*\)'/\1/p" "$torch_root/version.py" 2>/dev/null || true)
[[ -n $torch_version ]] || torch_version=$(cat "$torch_root/build-version" 2>/dev/null || echo unknown)

prefixes=()
libraries=
IFS=: read -r -a given <<<"${TBTRACE_DEPENDENCIES:-}"
for prefix in "${given[@]}"; do
  [[ -n $prefix ]] || continue
  prefix=$(cd "$prefix" && pwd) || fail_build "there is no folder $prefix of TBTRACE_DEPENDENCIES"
  prefixes+=("$prefix")
  for folder in "$prefix"/lib "$prefix"/lib/*-linux-gnu "$prefix"/lib64; do
    if [[ -d $folder ]]; then libraries+=$folder:; fi
  done
done
prefix_path=$(IFS=';'; printf '%s' "${prefixes[*]-}")

printf '== machine\n'
nvidia-smi -L || true
nvidia-smi --query-gpu=driver_version,memory.total,clocks.max.sm --format=csv,noheader || true
{ nvcc --version || true; } | tail -n 2
printf 'torch %s at %s\n%s, %s cores, %s\n' "$torch_version" "$torch_root" "$(uname -sr)" "$(nproc)" \
  "$(c++ --version | head -n 1)"

build_all() {
  local generator=Ninja
  command -v ninja >/dev/null || generator='Unix Makefiles'
  # The prefix folders' compiler of messages needs its libraries.
  local -x LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH-}
  {
    cmake -S "$root" -B "$build" -G "$generator" \
      -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DCMAKE_PREFIX_PATH="$prefix_path" \
      -DTBTRACE_TORCH=ON -DTBTRACE_TORCH_ROOT="$torch_root" \
      -DTBTRACE_GPU_CHECKS=ON &&
      cmake --build "$build" --parallel "$(nproc)" --target tbtrace_program gpu_checks
  } >>"$log" 2>&1
}

printf '== build\n'
start=$SECONDS
build_all || fail_build "failed"
tbtrace=$build/tools/tbtrace

printf '== tbtrace --version --verbose\n'
"$tbtrace" --version --verbose || true
printf '== checks\n'
arguments=(--program "$build/tests/gpu/gpu_checks" --tbtrace "$tbtrace" --results "$results")
arguments+=(--built $((SECONDS - start)) --seconds $((seconds - SECONDS)))
[[ -z $parts ]] || arguments+=(--parts "$parts")
PYTHONUNBUFFERED=1 python3 "$root/tests/gpu/judge.py" "${arguments[@]}" | tee "$results/summary.txt"
