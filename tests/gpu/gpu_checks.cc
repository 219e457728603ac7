// Makes what judge.py judges, on a machine with an NVIDIA GPU.
//   gpu_checks PART FOLDER [ARGUMENT...]    parts.h has the parts
// Writes traces to FOLDER and prints figures, a line of JSON.
#include <cstring>
#include <exception>
#include <iostream>
#include <stdexcept>

#include <torch/cuda.h>

#include "parts.h"

namespace {

using gpu_checks::Arguments;
using gpu_checks::Figures;

struct Part {
  const char* name;
  void (*run)(const Arguments&, Figures&);
};

constexpr Part kParts[] = {
    {"kernels", gpu_checks::kernels},
    {"launch_cost", gpu_checks::launch_cost},
    {"step_time", gpu_checks::step_time},
    {"torch_first", gpu_checks::torch_first},
    {"ours_first", gpu_checks::ours_first},
    {"torch_before", gpu_checks::torch_before},
    {"links", gpu_checks::links},
    {"cycles", gpu_checks::cycles},
    {"long_run", gpu_checks::long_run},
    {"logs", gpu_checks::logs},
    {"graphs", gpu_checks::graphs},
    {"streams", gpu_checks::streams},
    {"copies", gpu_checks::copies},
    {"memory", gpu_checks::memory},
    {"options", gpu_checks::options},
    {"unfinished", gpu_checks::unfinished},
    {"journal", gpu_checks::journal},
    {"toolbox_speed", gpu_checks::toolbox_speed},
    {"toolbox_layers", gpu_checks::toolbox_layers},
    {"toolbox_levels", gpu_checks::toolbox_levels},
    {"toolbox_memory", gpu_checks::toolbox_memory},
    {"toolbox_lines", gpu_checks::toolbox_lines},
    {"ranges", gpu_checks::ranges},
};

}  // namespace

int main(int argc, char** argv) {
  for (const Part& part : kParts) {
    if (argc < 3 || std::strcmp(argv[1], part.name) != 0) continue;
    try {
      if (!torch::cuda::is_available()) throw std::runtime_error("LibTorch sees no GPU here");
      Figures figures;
      part.run({.folder = argv[2], .rest = {argv + 3, argv + argc}}, figures);
      figures.print();
      return 0;
    } catch (const std::exception& error) {
      std::cerr << part.name << ": " << error.what() << '\n';
      return 1;
    }
  }
  std::cerr << "usage: " << argv[0] << " PART FOLDER [ARGUMENT...]\n";
  return 2;
}
