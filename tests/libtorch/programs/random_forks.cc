// Random programs that fork while they record: in a window, in a handler, with two profilers and a
// busy thread. Nobody hangs, no row is there twice, and each process has the rows of its own marks.
//   random_forks FIRST COUNT FOLDER   the programs FIRST, FIRST + 1 and so on
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <execinfo.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <tbtrace/profiler.h>

#include "libtorch/record/recorded.h"

namespace {

using tbtrace::Activity;
using tbtrace::Profiler;

constexpr int kDeepest = 3;
constexpr unsigned kPatience = 60;  // seconds, then a process hangs

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "process " << ::getpid() << ": " << what << '\n' << std::flush;
  ::_exit(1);
}

/// Ends a process that hangs, and says where.
void say_where(int /*signal*/) {
  constexpr std::string_view kWhat = "a process hangs at\n";
  std::array<void*, 64> frames;
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  if (::write(STDERR_FILENO, kWhat.data(), kWhat.size()) > 0) {
    ::backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
  }
  ::_exit(1);
}

void mark(const std::string& name) { const tbtrace::record_function range(name); }

/// Marks all the time, for a profiler of all threads.
class BusyThread {
 public:
  BusyThread()
      : thread_([this] {
          while (!stop_) {
            mark("busy " + std::to_string(marks_));
            ++marks_;
            std::this_thread::sleep_for(std::chrono::microseconds(20));
          }
        }) {}
  ~BusyThread() {
    stop_ = true;
    if (process_ != ::getpid()) thread_.detach();  // it is the parent's
    if (thread_.joinable()) thread_.join();
  }
  BusyThread(const BusyThread&) = delete;
  BusyThread& operator=(const BusyThread&) = delete;

  /// Until the thread has seen that callbacks came or went. LibTorch takes a lock of its own for
  /// that, which a child of a fork at that moment would find locked for ever.
  void settle() const {
    if (process_ != ::getpid()) return;
    const std::uint64_t before = marks_;
    while (marks_ < before + 2) std::this_thread::yield();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<std::uint64_t> marks_ = 0;
  pid_t process_ = ::getpid();
  std::thread thread_;
};

/// One process of a program, with what its profilers should have recorded.
class Process {
 public:
  Process(std::uint32_t seed, std::string folder) : random_(seed), folder_(std::move(folder)) {
    make_profilers();
  }

  void run() {
    for (int left = 5 + static_cast<int>(random_() % 15); left > 0; --left) do_something();
    for (Recorder& recorder : recorders_) stop(recorder);
  }

 private:
  struct Recorder {
    bool all_threads = false;
    std::unique_ptr<Profiler> profiler = nullptr;
    bool is_running = false;
    std::vector<std::string> marks = {};
  };

  void make_profilers() {
    recorders_.clear();
    for (const bool all_threads : {false, true}) {
      Recorder recorder{.all_threads = all_threads};
      tbtrace::ProfilerOptions options = {.activities = {Activity::cpu},
                                          .profile_memory = random_() % 3 == 0,
                                          .all_threads = all_threads};
      options.experimental.on_warning = [](std::string_view sentence) {
        if (sentence.starts_with("Warning: Profiler clears events")) return;
        if (sentence.starts_with("nothing ran on the thread")) return;
        fail("warns: " + std::string(sentence));
      };
      const bool exports = random_() % 4 == 0;
      options.on_trace_ready = [this, exports](Profiler& ready) {
        if (exports) ready.export_in_background(folder_, {});
        if (random_() % 3 == 0) fork();
      };
      recorder.profiler = std::make_unique<Profiler>(options);
      recorders_.push_back(std::move(recorder));
    }
  }

  void do_something() {
    switch (random_() % 8) {
      case 0:
      case 1:
        start(recorders_[random_() % recorders_.size()]);
        break;
      case 2:
        stop(recorders_[random_() % recorders_.size()]);
        break;
      case 3:
        fork();
        break;
      case 4:
        if (busy_ == nullptr) busy_ = std::make_unique<BusyThread>();
        break;
      case 5:
        torch::ones({4});
        break;
      default:
        own_mark();
        break;
    }
  }

  /// Of a name that no other process of the program has: a child goes on counting, with its number.
  void own_mark() {
    const std::string name = "mark " + std::to_string(::getpid()) + " " + std::to_string(++marks_);
    mark(name);
    for (Recorder& recorder : recorders_) {
      if (recorder.is_running) recorder.marks.push_back(name);
    }
  }

  void start(Recorder& recorder) {
    if (recorder.is_running) return;
    recorder.marks.clear();
    recorder.profiler->start();
    recorder.is_running = true;
  }

  void stop(Recorder& recorder) {
    if (!recorder.is_running) return;
    recorder.is_running = false;
    const std::vector<std::string> expected = recorder.marks;
    const pid_t process = ::getpid();
    recorder.profiler->stop();
    if (process != ::getpid()) return;  // the handler forked: this is the child
    check(recorder, expected);
  }

  void check(Recorder& recorder, const std::vector<std::string>& expected) {
    std::vector<std::string> marks;
    std::vector<std::string> busy;
    for (const std::string& name : tbtrace::testing::names(*recorder.profiler)) {
      if (name.starts_with("mark ")) marks.push_back(name);
      if (name.starts_with("busy ")) busy.push_back(name);
    }
    if (marks != expected) {
      fail(std::to_string(marks.size()) + " marks where there should be " +
           std::to_string(expected.size()));
    }
    std::sort(busy.begin(), busy.end());
    if (std::adjacent_find(busy.begin(), busy.end()) != busy.end()) fail("a row is there twice");
    if (!recorder.all_threads && !busy.empty()) fail("a row of another thread");
  }

  void fork() {
    if (depth_ == kDeepest) return;
    const std::uint32_t seed = random_();
    if (busy_ != nullptr) busy_->settle();
    const pid_t child = ::fork();
    if (child < 0) fail("cannot fork");
    if (child == 0) {
      be_child(seed);
      return;
    }
    int status = 0;
    ::alarm(0);  // the child has patience of its own, and so have its children
    ::waitpid(child, &status, 0);
    ::alarm(kPatience);
    if (status != 0) fail("its child ended with " + std::to_string(status));
  }

  /// Ends here, or goes on where its parent was with profilers that are not running.
  void be_child(std::uint32_t seed) {
    ::alarm(kPatience);
    random_.seed(seed);
    ++depth_;
    for (Recorder& recorder : recorders_) {
      recorder.is_running = false;
      recorder.marks.clear();
    }
    own_mark();
    switch (random_() % 4) {
      case 0:
        ::_exit(0);
      case 1:
        std::exit(0);
      case 2: {  // with profilers of its own, beside those of its parent
        Process own(random_(), folder_);
        own.depth_ = depth_;
        own.run();
        own.leave();
      }
      default:  // with those of its parent, begun anew
        run();
        leave();
    }
  }

  /// LibTorch does not bear threads that run its operators while exit() destroys it.
  [[noreturn]] void leave() {
    busy_.reset();
    std::exit(0);
  }

  std::mt19937 random_;
  std::string folder_;
  std::vector<Recorder> recorders_;
  std::unique_ptr<BusyThread> busy_;
  int depth_ = 0;
  int marks_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto first = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  const auto count = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  const std::string folder = argv[3];
  std::array<void*, 1> frame;
  ::backtrace(frame.data(), 1);  // loads what it needs now, not in a handler
  std::signal(SIGALRM, say_where);
  std::uint32_t wrong = 0;
  for (std::uint32_t program = first; program < first + count; ++program) {
    std::filesystem::remove_all(folder);
    const pid_t process = ::fork();
    if (process == 0) {
      ::alarm(kPatience);
      {
        Process root(program, folder);
        root.run();
      }
      std::exit(0);
    }
    int status = 0;
    ::waitpid(process, &status, 0);
    if (status == 0) continue;
    std::cerr << "program " << program << " ended with " << status << '\n';
    ++wrong;
  }
  std::filesystem::remove_all(folder);
  std::cout << count << " programs, " << wrong << " wrong\n";
  return wrong == 0 ? 0 : 1;
}
