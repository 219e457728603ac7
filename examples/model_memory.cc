// What a model and its optimizer hold in memory after a training step.
#include <iostream>

#include <torch/torch.h>

#include <tbtrace/memory_reporter.h>

int main() {
  torch::nn::Sequential model(torch::nn::Linear(64, 128), torch::nn::Linear(128, 10));
  torch::optim::Adam optimizer(model->parameters(), 1e-3);
  tbtrace::MemoryReporter reporter(model);
  reporter.add(optimizer).report();
  model->forward(torch::randn({8, 64})).sum().backward();
  optimizer.step();
  reporter.step();
  std::cout << reporter.table();
}
