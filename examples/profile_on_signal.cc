// Trains, and records three steps into a log directory whenever it is asked to:
//   profile_on_signal LOGDIR SECONDS &
//   kill -USR1 PROCESS
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include <torch/torch.h>
#include <unistd.h>

#include <tbtrace/profiler.h>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: profile_on_signal LOGDIR SECONDS\n";
    return 2;
  }
  torch::nn::Sequential model(torch::nn::Linear(64, 64), torch::nn::ReLU(),
                              torch::nn::Linear(64, 1));
  torch::optim::SGD optimizer(model->parameters(), 0.01);
  tbtrace::Profiler profiler({
      .schedule = tbtrace::on_signal(SIGUSR1, {.warmup = 1, .active = 3}),
      .on_trace_ready = tbtrace::tensorboard_trace_handler(argv[1]),
  });
  profiler.start();
  std::cout << "kill -USR1 " << ::getpid() << std::endl;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[2]));
  while (std::chrono::steady_clock::now() < end) {
    tbtrace::zero_grad(optimizer);
    model->forward(torch::randn({32, 64})).pow(2).mean().backward();
    tbtrace::step(optimizer);
    profiler.step();
  }
  profiler.stop();
  return profiler.wait_for_exports().ok() ? 0 : 1;
}
