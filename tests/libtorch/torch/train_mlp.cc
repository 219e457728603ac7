// Trains a small model as memory_timelines.py does, and exports the timeline of its memory.
//   train_mlp TIMELINE.raw.json.gz [no_model]
#include <iostream>

#include <torch/torch.h>

#include <tbtrace/profiler.h>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  torch::set_num_threads(1);
  torch::nn::Sequential model(torch::nn::Linear(20, 32), torch::nn::ReLU(),
                              torch::nn::Linear(32, 5));
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  const torch::Tensor x = torch::ones({16, 20});
  const torch::Tensor y = torch::zeros({16}, torch::kInt64);
  const auto step = [&] {
    // What zero_grad() does in Python; in C++ it detaches gradients in place before.
    for (torch::Tensor& parameter : model->parameters()) parameter.mutable_grad() = torch::Tensor();
    torch::Tensor loss = torch::nn::functional::cross_entropy(model->forward(x), y);
    loss.backward();
    optimizer.step();
  };
  torch::nn::functional::cross_entropy(model->forward(x), y).backward();
  for (torch::Tensor& parameter : model->parameters()) parameter.mutable_grad() = torch::Tensor();

  tbtrace::Profiler profiler({.activities = {tbtrace::Activity::cpu},
                              .record_shapes = true,
                              .profile_memory = true,
                              .with_stack = true});
  if (argc == 2) profiler.attach(model);
  {
    const auto recording = profiler.record();
    for (int number = 0; number < 3; ++number) step();
  }
  const tbtrace::Status written = profiler.export_memory_timeline(argv[1]);
  if (!written.ok()) std::cerr << written.message() << '\n';
  return written.ok() ? 0 : 1;
}
