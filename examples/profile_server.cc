// A server that answers requests on several threads and profiles one of them on demand, while the
// others go on.
//   profile_server DIRECTORY
// Writes DIRECTORY/request.json.gz, one request as it ran on its thread, and
// DIRECTORY/server.json.gz, all threads for the time of some requests.
#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <future>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include <tbtrace/profiler.h>

namespace {

namespace nn = torch::nn;

struct Request {
  int number = 0;
  torch::Tensor input;
  /// Where this request's trace goes, before the answer; empty: it is not profiled.
  std::string trace_path = {};
  std::promise<torch::Tensor> answer = {};
};

/// Answers requests in the order of submit(), several at a time. Its end answers what is left.
class Server {
 public:
  explicit Server(int threads) {
    model_->eval();
    for (int thread = 0; thread < threads; ++thread) threads_.emplace_back([this] { serve(); });
  }
  ~Server() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::future<torch::Tensor> submit(Request request) {
    std::future<torch::Tensor> answer = request.answer.get_future();
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(std::move(request));
    }
    changed_.notify_one();
    return answer;
  }

 private:
  void serve() {
    const torch::NoGradGuard no_grad;
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return closed_ || !requests_.empty(); });
      if (requests_.empty()) return;
      Request request = std::move(requests_.front());
      requests_.pop_front();
      lock.unlock();
      try {
        request.answer.set_value(request.trace_path.empty() ? run(request) : run_profiled(request));
      } catch (...) {
        request.answer.set_exception(std::current_exception());
      }
      lock.lock();
    }
  }

  torch::Tensor run(const Request& request) {
    const tbtrace::record_function range("request " + std::to_string(request.number));
    return model_->forward(request.input);
  }

  /// A profiler hears the thread that starts it, and those that work for it. What the other threads
  /// of the server do at this time is not recorded, and does not wait.
  torch::Tensor run_profiled(const Request& request) {
    tbtrace::Profiler profiler({.activities = {tbtrace::Activity::cpu}, .record_shapes = true});
    torch::Tensor answer;
    {
      const auto recording = profiler.record();
      answer = run(request);
    }
    const tbtrace::Status written = profiler.export_chrome_trace(request.trace_path);
    if (!written.ok()) throw std::runtime_error(written.message());
    return answer;
  }

  nn::Sequential model_{nn::Linear(256, 512), nn::ReLU(), nn::Linear(512, 10)};
  std::mutex mutex_;  // what follows
  bool closed_ = false;
  std::deque<Request> requests_;
  std::condition_variable changed_;
  std::vector<std::thread> threads_;
};

std::vector<std::future<torch::Tensor>> submit(Server& server, int first, int last) {
  std::vector<std::future<torch::Tensor>> answers;
  for (int number = first; number <= last; ++number) {
    answers.push_back(server.submit({.number = number, .input = torch::randn({64, 256})}));
  }
  return answers;
}

void wait(std::vector<std::future<torch::Tensor>> answers) {
  for (std::future<torch::Tensor>& answer : answers) answer.get();
}

void run(const std::filesystem::path& directory) {
  torch::set_num_threads(1);  // per request; the server has threads of its own
  std::filesystem::create_directories(directory);
  Server server(4);

  // One request among many, without all_threads.
  auto before = submit(server, 1, 50);
  auto profiled = server.submit({.number = 51,
                                 .input = torch::randn({64, 256}),
                                 .trace_path = (directory / "request.json.gz").string()});
  auto after = submit(server, 52, 100);
  profiled.get();
  wait(std::move(before));
  wait(std::move(after));

  // With all_threads everything that happens meanwhile: all requests, on whichever thread, and what
  // this thread does to make them. Any thread may start and stop such a profiler.
  tbtrace::Profiler profiler({.activities = {tbtrace::Activity::cpu}, .all_threads = true});
  {
    const auto recording = profiler.record();
    wait(submit(server, 101, 200));
  }
  const tbtrace::Status written =
      profiler.export_chrome_trace((directory / "server.json.gz").string());
  if (!written.ok()) throw std::runtime_error(written.message());
  std::cout << profiler.key_averages().table({.sort_by = "self_cpu_time_total", .row_limit = 5});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: profile_server DIRECTORY\n";
    return 2;
  }
  try {
    run(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
