// A program that ends while it records, in one of several ways; and what it left behind.
//   program_ends WAY FOLDER     records and ends; the handler writes to the folder
//   program_ends journal_WAY FOLDER   with a journal in FOLDER/journal
//   program_ends next FOLDER    records with that journal and ends as it should
//   program_ends recover FOLDER       writes what is in the journal
//   program_ends check FOLDER   0: there is one log file, which is whole and has the rows
//   program_ends check_child FOLDER   the same of a forked child, whose GPU is not recorded
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <tbtrace/profiler.h>
#include <tbtrace/recover.h>

#ifdef FAKE_CUPTI_130
#include "support/fake_cuda/fake_cuda.h"
#endif

namespace {

using tbtrace::Activity;
using tbtrace::ProcessOptions;
using tbtrace::Profiler;
using tbtrace::ProfilerOptions;

std::string journal_folder;  // empty: there is none

#ifdef FAKE_CUPTI_130
tbtrace::fake_cuda::FakeCuda& gpu() {
  static auto& one = *new tbtrace::fake_cuda::FakeCuda(FAKE_CUPTI_130, FAKE_CUDA_DRIVER);
  return one;
}

/// Beside each product a GPU that is not there runs a kernel.
void launch() {
  const tbtrace::record_function range("launch");
  gpu().cupti.launch({.name = "product", .time = {.duration_ns = 10'000}});
}

bool journal_has(std::string_view text) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(journal_folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    if (bytes.find(text) != std::string::npos) return true;
  }
  return false;
}

/// Until CUPTI has returned what was launched so far: a last kernel, of no operator, is in the
/// journal after all others.
void wait_for_kernels() {
  if (journal_folder.empty()) return;
  gpu().cupti.launch({.name = "the_last_kernel", .time = {.duration_ns = 10'000}});
  for (int tries = 0; tries < 1000; ++tries) {
    if (journal_has("the_last_kernel")) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::cerr << "the kernels are not in the journal\n";
  ::_exit(9);
}
const std::vector<Activity> kActivities = {Activity::cpu, Activity::cuda};
constexpr std::uint64_t kKernels = 3;
#else
void launch() {}
void wait_for_kernels() {}
const std::vector<Activity> kActivities = {Activity::cpu};
constexpr std::uint64_t kKernels = 0;
#endif

void work() {
  torch::ones({4, 4}).mul_(torch::ones({4, 4}));
  launch();
}

int check(const std::string& folder, std::uint64_t expected_kernels) {
  std::string file;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".pt.trace.json")) continue;
    if (!file.empty()) return std::cerr << "two files\n", 1;
    file = path;
  }
  if (file.empty()) return std::cerr << "no file\n", 1;
  const auto trace = tbtrace::read_trace(file, {.strict = true});
  if (!trace.ok()) return std::cerr << trace.status().message() << '\n', 1;
  std::uint64_t products = 0;
  for (const auto& event : tbtrace::events(*trace)) products += event.key == "aten::mul_" ? 1U : 0U;
  for (const tbtrace::EventId event : trace->by_start()) {
    if (!trace->name(event).starts_with("ProfilerStep#") || trace->events().unfinished(event)) {
      continue;
    }
    return std::cerr << "a step that did not end is called whole\n", 1;
  }
  const tbtrace::LinkReport& links = trace->links();
  const std::uint64_t kernels =
      links.operator_by_flow + links.operator_by_external_id + links.operator_by_containment;
  if (products == 3 && kernels == expected_kernels) return 0;
  return std::cerr << products << " products, " << kernels << " kernels\n", 1;
}

ProfilerOptions options(const std::string& folder, const ProcessOptions& process = {}) {
  return {.activities = kActivities,
          .on_trace_ready = tbtrace::tensorboard_trace_handler(folder, {.worker_name = "w"}),
          .process = process,
          .journal = {.directory = journal_folder}};
}

int recover(const std::string& folder) {
  const auto recovery = tbtrace::recover(journal_folder, {.output = folder, .remove = true});
  if (!recovery.ok()) return std::cerr << recovery.status().message() << '\n', 1;
  std::size_t windows = 0;
  for (const tbtrace::RecoveredJournal& journal : recovery->journals) {
    windows += journal.windows.size();
    if (!journal.was_removed) return std::cerr << "a journal is left\n", 1;
  }
  if (windows == 1) return 0;
  return std::cerr << windows << " windows\n", 1;
}

/// Recovers what was left, and leaves nothing.
int record_next(const std::string& folder) {
  std::string recovered;
  const auto listen = [&](std::string_view sentence) { recovered += sentence; };
  ProfilerOptions next = options(folder);
  next.experimental.on_warning = listen;
  {
    Profiler again(next);
    again.start();
    static_cast<void>(again.wait_for_exports());
  }
  if (recovered.find("recovered what process") == std::string::npos) {
    return std::cerr << "said: " << recovered << '\n', 1;
  }
  return 0;
}

void record(Profiler& profiler) {
  profiler.start();
  for (int times = 0; times < 3; ++times) work();
  wait_for_kernels();
}

std::unique_ptr<Profiler> of_the_program;  // destroyed after main()

[[noreturn]] void train_for_ever() {
  for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

constexpr std::chrono::hours kForEver(1);

[[noreturn]] void take_all_memory() {
  constexpr std::size_t kPiece = std::size_t{16} << 20;
  for (;;) std::memset(std::malloc(kPiece), 1, kPiece);
}

/// Ends in a way that no option keeps a window from. False: it is none of these.
bool lose(std::string_view way, const std::string& folder) {
  constexpr std::array<std::string_view, 7> kWays = {
      "abort", "segmentation_fault", "quick_exit", "at_once", "killed", "out_of_memory", "exec"};
  if (std::ranges::find(kWays, way) == kWays.end()) return false;
  Profiler profiler(
      options(folder, {.close_on = {SIGTERM, SIGINT, SIGHUP}, .close_on_terminate = true}));
  record(profiler);
  if (way == "abort") std::abort();
  if (way == "segmentation_fault") ::raise(SIGSEGV);
  if (way == "quick_exit") std::quick_exit(3);
  if (way == "at_once") ::_exit(3);
  if (way == "killed") ::raise(SIGKILL);
  if (way == "out_of_memory") take_all_memory();
  if (way == "exec") ::execl("/bin/true", "true", nullptr);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::string_view way = argv[1];
  const std::string folder = argv[2];
  constexpr std::string_view kWithJournal = "journal_";
  if (way.starts_with(kWithJournal) || way == "recover" || way == "next") {
    journal_folder = folder + "/journal";
  }
  if (way.starts_with(kWithJournal)) way.remove_prefix(kWithJournal.size());
  if (way == "recover") return recover(folder);
  if (way == "next") return record_next(folder);
  if (way == "check") return check(folder, kKernels);
  if (way == "check_child") return check(folder, 0);
  launch();  // the GPU is there before it is looked for
  if (way == "static") {
    of_the_program = std::make_unique<Profiler>(options(folder));
    record(*of_the_program);
    return 0;
  }
  if (way == "static_before_torch") {
    static Profiler profiler(options(folder));
    record(profiler);
    return 0;
  }
  if (way == "never_destroyed") {
    record(*new Profiler(options(folder)));
    return 0;
  }
  if (way == "exit") {
    Profiler profiler(options(folder));
    record(profiler);
    std::exit(3);
  }
  if (way == "exit_on_another_thread") {
    Profiler profiler(options(folder));
    record(profiler);
    std::thread([] { std::exit(3); }).join();
  }
  if (way == "exit_in_handler") {
    ProfilerOptions with_exit = options(folder);
    with_exit.on_trace_ready = [write = with_exit.on_trace_ready](Profiler& profiler) {
      write(profiler);
      std::exit(3);
    };
    Profiler profiler(with_exit);
    record(profiler);
    profiler.stop();
  }
  if (way == "sigterm" || way == "sigint" || way == "sighup") {
    Profiler profiler(options(folder, {.close_on = {SIGTERM, SIGINT, SIGHUP}}));
    record(profiler);
    std::cout << "recording" << std::endl;
    train_for_ever();
  }
  if (way == "sighup_in_step" || way == "exception_in_step") {
    ProfilerOptions steps = options(folder, {.close_on = {SIGHUP}, .close_on_terminate = true});
    steps.schedule = tbtrace::schedule({.active = 9});
    Profiler profiler(steps);
    record(profiler);
    if (way == "exception_in_step") throw std::runtime_error("in a step");
    ::kill(::getpid(), SIGHUP);
    train_for_ever();
  }
  if (way == "sigint_twice") {
    // The window cannot be closed: the handler never returns.
    ProfilerOptions slow = options(folder, {.close_on = {SIGINT}, .exit_timeout = kForEver});
    slow.on_trace_ready = [](Profiler&) {
      std::cout << "closing" << std::endl;
      train_for_ever();
    };
    Profiler profiler(slow);
    record(profiler);
    std::cout << "recording" << std::endl;
    train_for_ever();
  }
  if (way == "sigint_twice_in_destructor") {
    ProfilerOptions slow = options(folder, {.close_on = {SIGINT}, .exit_timeout = kForEver});
    slow.on_trace_ready = [](Profiler&) {
      ::raise(SIGINT);
      ::raise(SIGINT);
      train_for_ever();
    };
    Profiler profiler(slow);
    record(profiler);
    return 0;
  }
  if (way == "sigterm_while_ignored") {
    std::signal(SIGTERM, SIG_IGN);
    Profiler profiler(options(folder, {.close_on = {SIGTERM}}));
    record(profiler);
    ::kill(::getpid(), SIGTERM);
    profiler.stop();
    return profiler.wait_for_exports().ok() ? 0 : 1;
  }
  if (way == "two_signals") {
    // The first one does nothing but close, so that the program lives on; the other one ends it.
    static std::atomic<bool> was_asked = false;
    std::signal(SIGUSR1, [](int) { was_asked = true; });
    ProfilerOptions both = options(folder, {.close_on = {SIGUSR1, SIGTERM}});
    both.on_trace_ready = [write = both.on_trace_ready](Profiler& profiler) {
      ::kill(::getpid(), SIGTERM);  // while the first one is being dealt with
      write(profiler);
    };
    Profiler profiler(both);
    record(profiler);
    ::kill(::getpid(), SIGUSR1);
    train_for_ever();
  }
  if (way == "exception") {
    Profiler profiler(options(folder, {.close_on_terminate = true}));
    record(profiler);
    throw std::runtime_error("the data set is gone");
  }
  if (way == "exception_on_another_thread") {
    Profiler profiler(options(folder, {.close_on_terminate = true}));
    record(profiler);
    std::thread([] { throw std::runtime_error("the data set is gone"); }).join();
  }
  if (way == "exception_with_handler") {
    std::set_terminate([] { ::_exit(7); });
    Profiler profiler(options(folder, {.close_on_terminate = true}));
    record(profiler);
    throw std::runtime_error("the data set is gone");
  }
  if (way == "exception_in_handler") {
    // std::terminate() on the thread that closes the window: nothing is left to do but abort.
    ProfilerOptions bad = options(folder, {.close_on = {SIGTERM}, .close_on_terminate = true});
    bad.on_trace_ready = [](Profiler&) { std::terminate(); };
    Profiler profiler(bad);
    record(profiler);
    ::kill(::getpid(), SIGTERM);
    train_for_ever();
  }
  if (way == "exceptions_on_many_threads") {
    Profiler profiler(options(folder, {.close_on_terminate = true}));
    record(profiler);
    std::vector<std::thread> threads;
    for (int number = 0; number < 8; ++number) {
      threads.emplace_back([] { throw std::runtime_error("the data set is gone"); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  // What loses the window.
  if (lose(way, folder)) return 1;
  if (way == "sigterm_with_handler") {
    std::signal(SIGTERM, [](int) { ::_exit(7); });
    Profiler profiler(options(folder, {.close_on = {SIGTERM}}));
    record(profiler);
    std::cout << "recording" << std::endl;
    train_for_ever();
  }
  if (way == "sigterm_after_another") {
    static std::atomic<bool> was_asked = false;
    std::signal(SIGTERM, [](int) {
      if (was_asked.exchange(true)) ::_exit(7);
    });
    Profiler before({.activities = kActivities, .process = {.close_on = {SIGTERM}}});
    before.start();
    ::kill(::getpid(), SIGTERM);
    while (!was_asked) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Profiler profiler(options(folder, {.close_on = {SIGTERM}}));
    record(profiler);
    std::cout << "recording" << std::endl;
    train_for_ever();
  }
  if (way == "child_by_sigterm") {
    Profiler profiler(options(folder, {.close_on = {SIGTERM}}));
    profiler.start();
    const pid_t child = ::fork();
    if (child == 0) {
      record(profiler);
      ::kill(::getpid(), SIGTERM);
      train_for_ever();
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ::_exit(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM ? 0 : 1);
  }
  std::cerr << "no such way: " << way << '\n';
  return 2;
}
