// Random programs that end by themselves, in one of several ways, and get a SIGTERM of `close_on`
// at a random moment: while they record, while they end, while the window is written, or after.
// Whenever it comes, the window is in one file, whole, and nothing else is left.
//   random_ends FIRST COUNT FOLDER   the programs FIRST, FIRST + 1 and so on
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <sys/mman.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <tbtrace/profiler.h>

namespace {

using tbtrace::Profiler;
using tbtrace::ProfilerOptions;

constexpr unsigned kPatience = 60;  // seconds, then a process hangs
constexpr std::chrono::minutes kEnough(1);

/// What a program and whoever signals it both see.
struct Shared {
  std::atomic<int> marks = 0;  ///< that are finished
  std::atomic<bool> is_recording = false;
  std::atomic<bool> is_ending = false;
};

enum class Way : std::uint8_t {
  destructor,
  destructor_by_exception,
  destructor_on_another_thread,
  stop,
  stop_and_wait,
  exit,
  exit_on_another_thread,
  static_profiler,
  never_destroyed,
};
constexpr std::uint32_t kWays = 9;

struct Plan {
  Way way;
  int marks;
  bool has_journal;
  bool has_summaries;
  bool is_signalled_while_recording;
  std::chrono::microseconds delay;
};

Plan plan_of(std::uint32_t seed) {
  std::mt19937 random(seed);
  constexpr std::array kMarks = {20, 2000, 60'000};
  Plan plan{};
  plan.way = static_cast<Way>(random() % kWays);
  plan.marks = kMarks[random() % kMarks.size()];
  plan.has_journal = random() % 2 == 0;
  plan.has_summaries = random() % 2 == 0;
  plan.is_signalled_while_recording = random() % 4 == 0;
  // As often within 10 to 100 us as within 10 to 100 ms; 0.3 s at most.
  const double exponent = 5.5 * static_cast<double>(random()) / std::mt19937::max();
  plan.delay = std::chrono::microseconds(std::llround(std::pow(10.0, exponent)));
  return plan;
}

ProfilerOptions options_of(const Plan& plan, const std::string& folder) {
  ProfilerOptions options{
      .activities = {tbtrace::Activity::cpu},
      .on_trace_ready = tbtrace::tensorboard_trace_handler(
          folder + "/logs", {.worker_name = "w", .summaries = plan.has_summaries}),
      .process = {.close_on = {SIGTERM}, .exit_timeout = kEnough}};
  if (plan.has_journal) options.journal.directory = folder + "/journal";
  return options;
}

void record(Profiler& profiler, const Plan& plan, Shared& shared) {
  profiler.start();
  shared.is_recording = true;
  for (int number = 1; number <= plan.marks; ++number) {
    { const tbtrace::record_function range("mark " + std::to_string(number)); }
    shared.marks = number;
  }
  shared.is_ending = true;
}

std::unique_ptr<Profiler> of_the_program;  // destroyed by exit()

[[noreturn]] void run(const Plan& plan, const std::string& folder, Shared& shared) {
  auto profiler = std::make_unique<Profiler>(options_of(plan, folder));
  if (plan.way == Way::destructor_by_exception) {
    try {
      const auto unwound = std::move(profiler);
      record(*unwound, plan, shared);
      throw std::runtime_error("caught below");
    } catch (const std::runtime_error&) {
    }
    std::exit(0);
  }
  record(*profiler, plan, shared);
  switch (plan.way) {
    case Way::destructor_by_exception:
    case Way::destructor:
      profiler.reset();
      break;
    case Way::destructor_on_another_thread:
      std::thread([&] { profiler.reset(); }).join();
      break;
    case Way::stop:
      profiler->stop();
      profiler.reset();
      break;
    case Way::stop_and_wait:
      profiler->stop();
      static_cast<void>(profiler->wait_for_exports());
      profiler.reset();
      break;
    case Way::exit:
      break;  // `profiler` lives
    case Way::exit_on_another_thread:
      std::thread([] { std::exit(0); }).join();
      break;
    case Way::static_profiler:
      of_the_program = std::move(profiler);
      break;
    case Way::never_destroyed:
      static_cast<void>(profiler.release());
      break;
  }
  std::exit(0);
}

/// Empty: all is well.
std::string complaint_of(const std::string& folder, const Plan& plan, int finished, int status) {
  const bool is_signalled = WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
  if (status != 0 && !is_signalled) return "it ended with " + std::to_string(status);
  std::string file;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder + "/logs")) {
    const std::string path = entry.path().string();
    if (entry.is_directory() || path.find(".tfevents.") != std::string::npos) continue;
    if (!path.ends_with(".pt.trace.json")) return path + " is left";
    if (!file.empty()) return "there are two files";
    file = path;
  }
  if (file.empty()) return "there is no file";
  const auto trace = tbtrace::read_trace(file, {.strict = true});
  if (!trace.ok()) return trace.status().message();
  int marks = 0;
  for (const tbtrace::EventId event : trace->by_start()) {
    const std::string_view name = trace->name(event);
    if (!name.starts_with("mark ")) continue;
    if (name != "mark " + std::to_string(++marks)) return std::string(name) + " is not the next";
    if (trace->events().unfinished(event) && marks <= finished) return "a mark has no end";
  }
  if (marks < finished) {
    return std::to_string(marks) + " marks of " + std::to_string(finished);
  }
  if (plan.has_journal && !std::filesystem::is_empty(folder + "/journal")) {
    return "its journal is left";
  }
  return {};
}

Shared& new_shared() {
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return *new (memory) Shared;
}

void wait_until(const std::atomic<bool>& condition, pid_t process) {
  while (!condition) {
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid != 0) return;
    std::this_thread::yield();
  }
}

std::string run_program(std::uint32_t seed, const std::string& folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder + "/logs");
  const Plan plan = plan_of(seed);
  Shared& shared = new_shared();
  const pid_t process = ::fork();
  if (process == 0) {
    ::alarm(kPatience);
    run(plan, folder, shared);
  }
  wait_until(plan.is_signalled_while_recording ? shared.is_recording : shared.is_ending, process);
  std::this_thread::sleep_for(plan.delay);
  const int finished = shared.marks;
  ::kill(process, SIGTERM);
  int status = 0;
  ::waitpid(process, &status, 0);
  ::munmap(&shared, sizeof shared);
  return complaint_of(folder, plan, finished, status);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto first = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  const auto count = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  const std::string folder = argv[3];
  std::uint32_t wrong = 0;
  for (std::uint32_t program = first; program < first + count; ++program) {
    const std::string complaint = run_program(program, folder);
    if (complaint.empty()) continue;
    const Plan plan = plan_of(program);
    std::cerr << "program " << program << ", way " << static_cast<int>(plan.way) << ", "
              << plan.marks << " marks, signal after " << plan.delay.count() << " us: " << complaint
              << '\n';
    ++wrong;
  }
  std::filesystem::remove_all(folder);
  std::cout << count << " programs, " << wrong << " wrong\n";
  return wrong == 0 ? 0 : 1;
}
