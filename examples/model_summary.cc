// What each layer of a model costs.
#include <iostream>

#include <torch/torch.h>

#include <tbtrace/model_summary.h>

int main() {
  namespace nn = torch::nn;
  nn::Sequential model(nn::Conv2d(3, 16, 3), nn::BatchNorm2d(16), nn::ReLU(), nn::MaxPool2d(2),
                       nn::Flatten(), nn::Linear(16 * 15 * 15, 10));
  const tbtrace::ModelSummary costs =
      tbtrace::model_summary(model, {torch::randn({8, 3, 32, 32})}, {.depth = 3});
  std::cout << costs.table() << '\n' << costs.table({.style = "torchinfo"});
}
