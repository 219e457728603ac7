// A model whose layers share a weight.
#pragma once

#include <torch/torch.h>

namespace tbtrace::testing {

namespace nn = torch::nn;

/// A small language model, whose decoder has the weight of its embedding: the same memory.
struct TiedModelImpl : nn::Module {
  TiedModelImpl() {
    embedding = register_module("embedding", nn::Embedding(100, 16));
    hidden = register_module("hidden", nn::Linear(16, 16));
    decoder = register_module("decoder", nn::Linear(nn::LinearOptions(16, 100)));
    decoder->named_parameters(false)["weight"].set_data(embedding->weight);
  }

  torch::Tensor forward(const torch::Tensor& tokens) {
    return decoder(torch::tanh(hidden(embedding(tokens))));
  }

  nn::Embedding embedding{nullptr};
  nn::Linear hidden{nullptr}, decoder{nullptr};
};
TORCH_MODULE(TiedModel);

}  // namespace tbtrace::testing
