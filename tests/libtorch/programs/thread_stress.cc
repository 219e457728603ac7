// Sixteen threads run LibTorch's operators while profilers start and stop around them. Built with
// the thread sanitizer, which ends it with a status of its own where it finds a race.
//   thread_stress FOLDER   writes log files into the folder and reads them back
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include <tbtrace/profiler.h>

#include "libtorch/record/scripted_allocator.h"

namespace {

using tbtrace::Activity;
using tbtrace::async_range;
using tbtrace::Profiler;

constexpr std::size_t kThreads = 16;
constexpr int kSteps = 60;    // of each thread, in a round
constexpr int kRounds = 3;    // in each of which all threads are new
constexpr int kWindows = 20;  // of the profiler that records them all, in a round

/// Where threads leave ranges and tensors for others to end and to free.
template <typename T>
class Exchange {
 public:
  ~Exchange() {
    for (auto& place : places_) delete place.load();
  }
  /// Leaves one and takes another's, or nothing.
  std::unique_ptr<T> swap(std::size_t place, T&& mine) {
    return std::unique_ptr<T>(places_[place % kThreads].exchange(new T(std::move(mine))));
  }

 private:
  std::array<std::atomic<T*>, kThreads> places_ = {};
};

Exchange<async_range> ranges;
Exchange<torch::Tensor> tensors;
std::atomic<int> short_lived = 0;
std::atomic<int> busy = 0;

void train(std::size_t thread, const torch::Tensor& weight) {
  const torch::Tensor input = torch::ones({4, 8}) * static_cast<double>(thread);
  for (int step = 0; step < kSteps; ++step) {
    const tbtrace::record_function range("step of " + std::to_string(thread));
    const auto ended_elsewhere = ranges.swap(thread + step, async_range("request"));
    torch::Tensor loss;
    {
      TBTRACE_RECORD_FUNCTION("forward");
      loss = torch::relu(torch::matmul(input, weight)).sum();
    }
    loss.backward();
    (void)tensors.swap(thread + 2 * step, torch::empty({16 + step}));
    auto& gpus = tbtrace::testing::ScriptedAllocator::instance();
    const int gpu = step % gpus.devices();
    gpus.free(gpu, gpus.allocate(gpu, 1000 + step, step % 3 * 512));
    if (step % 20 == 7) {  // comes late and ends while others record
      std::thread([] {
        TBTRACE_RECORD_FUNCTION("short-lived");
        torch::ones({3}).add_(1);
        ++short_lived;
      }).join();
    }
  }
}

/// Records only itself, again and again.
void train_and_record(std::size_t thread, const torch::Tensor& weight) {
  for (int window = 0; window < 3; ++window) {
    Profiler profiler({.activities = {Activity::cpu},
                       .record_shapes = true,
                       .profile_memory = true,
                       .with_flops = true});
    profiler.start();
    train(thread, weight);
    profiler.stop();
    if (profiler.events().size() < kSteps) std::abort();
  }
}

void work(std::size_t thread) {
  const torch::Tensor weight = torch::ones({8, 8}, torch::requires_grad());
  if (thread % 4 == 0) {
    train_and_record(thread, weight);
  } else {
    train(thread, weight);
  }
  --busy;
}

int record(const std::string& folder) {
  Profiler profiler({.activities = {Activity::cpu},
                     .on_trace_ready = tbtrace::tensorboard_trace_handler(folder),
                     .record_shapes = true,
                     .profile_memory = true,
                     .with_flops = true,
                     .all_threads = true});
  int windows = 0;
  for (int round = 0; round < kRounds; ++round) {
    busy = kThreads;
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread) threads.emplace_back(work, thread);
    for (int window = 0; window < kWindows || busy > 0; ++window) {
      profiler.start();
      profiler.add_metadata("window", std::to_string(window));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      profiler.toggle_collection_dynamic(false, {Activity::cpu});
      profiler.toggle_collection_dynamic(true, {Activity::cpu});
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      profiler.stop();
      ++windows;
    }
    for (std::thread& thread : threads) thread.join();
  }
  const tbtrace::Status written = profiler.wait_for_exports();
  if (!written.ok()) std::cerr << written.message() << '\n';
  return written.ok() ? windows : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  std::filesystem::remove_all(folder);
  torch::set_num_threads(1);
  tbtrace::testing::ScriptedAllocator::instance().make_ready();
  const int windows = record(folder);
  int files = 0;
  std::size_t events = 0;
  std::size_t most_tracks = 0;
  std::size_t of_gpus = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.is_directory()) continue;  // summaries
    const auto trace = tbtrace::read_trace(file.path().string(), {.strict = true});
    if (!trace.ok()) {
      std::cerr << file.path() << ": " << trace.status().message() << '\n';
      return 1;
    }
    ++files;
    events += trace->events().size();
    of_gpus += static_cast<std::size_t>(
        std::count_if(trace->memory().begin(), trace->memory().end(),
                      [](const tbtrace::MemoryRecord& record) { return record.device_id >= 0; }));
    most_tracks = std::max(most_tracks, trace->tracks().size());
  }
  std::cout << windows << " windows, " << files << " files, " << events << " events, " << of_gpus
            << " of memory of GPUs, at most " << most_tracks << " threads in a window, "
            << short_lived << " short-lived ones\n";
  return files == windows && most_tracks > kThreads && short_lived > 0 && of_gpus > 0 ? 0 : 1;
}
