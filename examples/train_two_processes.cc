// Trains one model in two processes, which average their gradients with c10d's Gloo, and records
// both into one run of a log directory, for the Distributed view of TensorBoard.
//   train_two_processes LOGDIR                          starts itself once for each rank
//   train_two_processes LOGDIR RANK WORLD_SIZE STORE    one rank; all name the same file STORE,
//                                                       which is not there yet
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/torch.h>
#include <unistd.h>

#include <tbtrace/profiler.h>

namespace {

namespace nn = torch::nn;
using Group = c10::intrusive_ptr<c10d::ProcessGroupGloo>;

constexpr int kProcesses = 2;
constexpr int kSteps = 10;

Group join_group(const std::string& store, int rank, int world_size) {
  // Ranks that wait longer for another one give up.
  const auto options = c10d::ProcessGroupGloo::Options::create(std::chrono::minutes(1));
  options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
  // The Distributed view takes the n-th collective of each rank for the same one. Of several
  // threads two could begin theirs in another order than those of another rank.
  options->threads = 1;
  return c10::make_intrusive<c10d::ProcessGroupGloo>(
      c10::make_intrusive<c10d::FileStore>(store, world_size), rank, world_size, options);
}

/// Averages each gradient over all ranks as soon as it is there, while the backward goes on.
class GradientAverager {
 public:
  GradientAverager(std::vector<torch::Tensor> parameters, Group group)
      : parameters_(std::move(parameters)), group_(std::move(group)) {
    for (std::size_t number = 0; number < parameters_.size(); ++number) {
      parameters_[number].register_hook(
          [this, number](const torch::Tensor& gradient) { begin(number, gradient); });
    }
  }
  GradientAverager(const GradientAverager&) = delete;
  GradientAverager& operator=(const GradientAverager&) = delete;

  /// To be called between backward() and the optimizer's step.
  void finish() {
    for (Sum& sum : sums_) {
      sum.work->wait();
      parameters_[sum.parameter].mutable_grad() = sum.tensors[0] / group_->getSize();
    }
    sums_.clear();
  }

 private:
  using Work =
      decltype(std::declval<Group>()->allreduce(std::declval<std::vector<torch::Tensor>&>()));
  struct Sum {
    std::size_t parameter;
    std::vector<torch::Tensor> tensors;
    Work work;
  };

  void begin(std::size_t parameter, const torch::Tensor& gradient) {
    std::vector<torch::Tensor> tensors = {gradient.clone()};
    Work work = group_->allreduce(tensors);
    sums_.push_back({parameter, std::move(tensors), std::move(work)});
  }

  std::vector<torch::Tensor> parameters_;
  Group group_;
  std::vector<Sum> sums_;
};

/// The second rank's data come late, so that the first one waits for it.
torch::Tensor next_batch(int rank) {
  const tbtrace::record_function range("enumerate(DataLoader)#DataLoader.__next__");
  std::this_thread::sleep_for(std::chrono::milliseconds(30 * rank));
  return torch::randn({64, 256});
}

void train(const std::string& logdir, int rank, int world_size, const std::string& store) {
  torch::set_num_threads(1);
  torch::manual_seed(0);  // the same weights everywhere
  nn::Sequential model(nn::Linear(256, 512), nn::ReLU(), nn::Linear(512, 512), nn::ReLU(),
                       nn::Linear(512, 10));
  torch::manual_seed(rank);  // but other data
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.01));
  GradientAverager averager(model->parameters(), join_group(store, rank, world_size));

  tbtrace::Profiler profiler({
      .activities = {tbtrace::Activity::cpu},
      .schedule = tbtrace::schedule({.wait = 1, .warmup = 1, .active = 3, .repeat = 2}),
      // Every rank writes into the same folder, by a name of its own: HOST_RANK for this view.
      .on_trace_ready = tbtrace::tensorboard_trace_handler(
          logdir, {.worker_name = "node0_" + std::to_string(rank)}),
      .record_shapes = true,  // without shapes collectives have no size
  });
  profiler.set_distributed_info({.backend = "gloo", .rank = rank, .world_size = world_size});
  profiler.start();
  for (int step = 0; step < kSteps; ++step) {
    const torch::Tensor answer = model->forward(next_batch(rank));
    optimizer.zero_grad();
    answer.pow(2).mean().backward();
    averager.finish();
    tbtrace::step(optimizer);
    profiler.step();
  }
  profiler.stop();
  if (const tbtrace::Status written = profiler.wait_for_exports(); !written.ok()) {
    throw std::runtime_error(written.message());
  }

  double sum = 0;
  for (const torch::Tensor& parameter : model->parameters()) sum += parameter.sum().item<double>();
  std::cout << "rank " + std::to_string(rank) + ": the weights add up to " + std::to_string(sum) +
                   '\n';
}

pid_t start_rank(const std::string& program, const std::string& logdir, int rank,
                 const std::string& store) {
  std::vector<std::string> words = {program, logdir, std::to_string(rank),
                                    std::to_string(kProcesses), store};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t process = 0;
  if (::posix_spawnp(&process, words[0].c_str(), nullptr, nullptr, arguments.data(), environ) !=
      0) {
    throw std::runtime_error("cannot start " + program);
  }
  return process;
}

/// Whether all ranks ended well.
bool train_everywhere(const std::string& program, const std::string& logdir) {
  const std::filesystem::path store = std::filesystem::temp_directory_path() /
                                      ("train_two_processes." + std::to_string(::getpid()));
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < kProcesses; ++rank) {
    ranks.push_back(start_rank(program, logdir, rank, store.string()));
  }
  bool well = true;
  for (const pid_t rank : ranks) {
    int status = -1;
    well = ::waitpid(rank, &status, 0) == rank && status == 0 && well;
  }
  std::error_code ignored;
  std::filesystem::remove(store, ignored);
  return well;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 5) {
    std::cerr << "usage: train_two_processes LOGDIR [RANK WORLD_SIZE STORE]\n";
    return 2;
  }
  try {
    if (argc == 2) return train_everywhere(argv[0], argv[1]) ? 0 : 1;
    train(argv[1], std::atoi(argv[2]), std::atoi(argv[3]), argv[4]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
