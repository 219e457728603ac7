// Records an inference and a training step of a TorchScript model, as python_answers.py does.
//   run_script MODEL TRACE.json   prints the operators as JSON
#include <iostream>
#include <string>

#include <torch/script.h>
#include <torch/torch.h>

#include <tbtrace/profiler.h>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  torch::set_num_threads(1);
  torch::jit::Module model = torch::jit::load(argv[1]);
  const torch::Tensor pictures = torch::ones({4, 3, 32, 32});
  const torch::Tensor one = torch::ones({});
  const auto answer = [&] { return model.forward({pictures}).toTensor(); };
  for (int warm_up = 0; warm_up < 4; ++warm_up) answer().sum().backward();
  for (torch::Tensor parameter : model.parameters()) parameter.mutable_grad() = torch::Tensor();

  tbtrace::Profiler profiler({.activities = {tbtrace::Activity::cpu},
                              .record_shapes = true,
                              .profile_memory = true,
                              .with_flops = true});
  {
    const auto recording = profiler.record();
    {
      const tbtrace::record_function range("inference");
      const torch::NoGradGuard no_grad;
      answer();
    }
    {
      const tbtrace::record_function range("training");
      const torch::Tensor loss = answer().sum();
      loss.backward(one);
    }
  }
  const tbtrace::Status written = profiler.export_chrome_trace(argv[2]);
  const tbtrace::Result<std::string> json =
      profiler.key_averages({.group_by_input_shape = true}).json();
  std::cout << json;
  return written.ok() && json.ok() ? 0 : 1;
}
