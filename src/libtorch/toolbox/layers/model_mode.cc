#include "libtorch/toolbox/layers/model_mode.h"

#include <torch/cuda.h>

namespace tbtrace::libtorch {
namespace {

void collect(torch::nn::Module& module, std::vector<std::pair<torch::nn::Module*, bool>>& modules) {
  modules.emplace_back(&module, module.is_training());
  for (const auto& child : module.children()) collect(*child, modules);
}

void collect(const torch::jit::Module& module,
             std::vector<std::pair<torch::jit::Module, bool>>& modules) {
  if (module.hasattr("training")) modules.emplace_back(module, module.is_training());
  for (const auto& child : module.children()) collect(child, modules);
}

}  // namespace

ModeOfModel::ModeOfModel(torch::nn::Module& model, ModelMode mode) {
  if (mode == ModelMode::same) return;
  collect(model, before_);
  model.train(mode == ModelMode::train);
}

ModeOfModel::~ModeOfModel() {
  for (const auto& [module, was_training] : before_) module->train(was_training);
}

ModeOfScript::ModeOfScript(const torch::jit::Module& model, ModelMode mode) {
  if (mode == ModelMode::same) return;
  collect(model, before_);
  torch::jit::Module module = model;
  module.train(mode == ModelMode::train);
}

ModeOfScript::~ModeOfScript() {
  for (auto& [module, was_training] : before_) module.train(was_training);
}

bool has_cuda() { return torch::cuda::is_available(); }

}  // namespace tbtrace::libtorch
