// Puts a model into eval or training mode for the life of an object. For one thread.
#pragma once

#include <utility>
#include <vector>

#include <torch/csrc/jit/api/module.h>
#include <torch/nn/module.h>

#include <tbtrace/model_summary.h>

namespace tbtrace::libtorch {

/// Afterwards each module is in the mode that it was in.
class ModeOfModel {
 public:
  ModeOfModel(torch::nn::Module& model, ModelMode mode);
  ~ModeOfModel();
  ModeOfModel(const ModeOfModel&) = delete;
  ModeOfModel& operator=(const ModeOfModel&) = delete;

 private:
  std::vector<std::pair<torch::nn::Module*, bool>> before_;  // those around others first
};

class ModeOfScript {
 public:
  ModeOfScript(const torch::jit::Module& model, ModelMode mode);
  ~ModeOfScript();
  ModeOfScript(const ModeOfScript&) = delete;
  ModeOfScript& operator=(const ModeOfScript&) = delete;

 private:
  std::vector<std::pair<torch::jit::Module, bool>> before_;
};

/// Whether the process can use a CUDA device.
bool has_cuda();

}  // namespace tbtrace::libtorch
