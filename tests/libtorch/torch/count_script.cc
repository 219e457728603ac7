// Counts a TorchScript model: count_script MODEL.pt INPUT.pt prints the multiply-adds of a forward
// pass and of a training step, and the parameters.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

#include <torch/script.h>
#include <torch/torch.h>

#include <tbtrace/model_summary.h>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  torch::jit::Module model = torch::jit::load(argv[1]);
  std::ifstream file(argv[2], std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  const torch::Tensor input = torch::pickle_load(bytes).toTensor();
  const tbtrace::ModelSummary forward =
      tbtrace::model_summary(model, {input}, {.mode = tbtrace::ModelMode::same});
  const tbtrace::ModelSummary training =
      tbtrace::model_summary([&] { model.forward({input}).toTensor().sum().backward(); });
  std::cout << *forward.total().macs << ' ' << *training.total().macs << ' '
            << forward.total().parameters << '\n';
}
