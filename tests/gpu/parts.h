// The parts of the checks: each makes traces in `folder` and adds figures; judge.py judges both.
#pragma once

#include <string>
#include <vector>

#include "contenders.h"

namespace gpu_checks {

struct Arguments {
  std::string folder;
  std::vector<std::string> rest = {};

  std::string path(const std::string& name) const { return folder + "/" + name; }
  std::string text(std::size_t at, const std::string& otherwise) const {
    return at < rest.size() ? rest[at] : otherwise;
  }
  int number(std::size_t at, int otherwise) const {
    return at < rest.size() ? std::stoi(rest[at]) : otherwise;
  }
};

// Beside torch's profiler (against_torch.cc).

/// WHO ROUNDS MODEL...: a step of training, recorded by `ours`, by `torch` or by `both` in turns.
void kernels(const Arguments& arguments, Figures& figures);
/// ROUNDS LAUNCHES: what recording adds to a launch.
void launch_cost(const Arguments& arguments, Figures& figures);
/// ROUNDS: a step of training with and without recording, and the end of a recording.
void step_time(const Arguments& arguments, Figures& figures);
/// LAUNCHES: ours, while torch's records.
void torch_first(const Arguments& arguments, Figures& figures);
/// LAUNCHES: torch's, while ours records, and ours after that.
void ours_first(const Arguments& arguments, Figures& figures);
/// LAUNCHES: ours, after torch's has ended.
void torch_before(const Arguments& arguments, Figures& figures);

// Of ours alone (recordings.cc).

/// ROUNDS MODEL...: with the driver told of each operator.
void links(const Arguments& arguments, Figures& figures);
/// ROUNDS: starts and stops again and again.
void cycles(const Arguments& arguments, Figures& figures);
/// WINDOWS LAUNCHES: a schedule without end.
void long_run(const Arguments& arguments, Figures& figures);
/// A log directory.
void logs(const Arguments& arguments, Figures& figures);
/// What the allocator told LibTorch's own profiler (memory.cc).
void memory(const Arguments& arguments, Figures& figures);

// What its options make of them (options.cc).

/// LAUNCHES: recorded twice with each of some options.
void options(const Arguments& arguments, Figures& figures);
/// PRODUCTS: a recording that ends before the GPU is done with them.
void unfinished(const Arguments& arguments, Figures& figures);

/// LAUNCHES: a process that ends without notice (journal.cc). Prints its figures itself.
[[noreturn]] void journal(const Arguments& arguments, Figures& figures);

// With CUDA's own functions (devices.cc).

/// REPLAYS: graphs, captured before and during a recording.
void graphs(const Arguments& arguments, Figures& figures);
/// ITERATIONS: two threads, each on a stream of its own.
void streams(const Arguments& arguments, Figures& figures);
/// Copies and settings of memory.
void copies(const Arguments& arguments, Figures& figures);

// What a model costs (toolbox_*.cc).

/// benchmark() of a model and of callables.
void toolbox_speed(const Arguments& arguments, Figures& figures);
/// IMAGES: model_summary() of a model, on the host and on the GPU.
void toolbox_layers(const Arguments& arguments, Figures& figures);
/// A model as a whole, its layers, its operators.
void toolbox_levels(const Arguments& arguments, Figures& figures);
/// What MemoryReporter finds.
void toolbox_memory(const Arguments& arguments, Figures& figures);
/// What lines allocate.
void toolbox_lines(const Arguments& arguments, Figures& figures);
/// Ranges, counters and instants of a training loop.
void ranges(const Arguments& arguments, Figures& figures);

double gpu_bytes_used();

}  // namespace gpu_checks
