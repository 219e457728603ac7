#include "libtorch_recording.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

#include <poll.h>
#include <unistd.h>

#include "running_process.h"
#include "start_kineto.h"

namespace tbtrace::tools {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kPollMs = 50;
constexpr double kDelay = 4;  // seconds until Kineto records that is asked to

/// As execvp(3) finds it.
std::string path_of(const std::string& word) {
  if (word.find('/') != std::string::npos) return word;
  const char* const folders = std::getenv("PATH");
  std::string_view left = folders == nullptr ? "" : folders;
  while (!left.empty()) {
    const std::string_view folder = left.substr(0, left.find(':'));
    left.remove_prefix(std::min(folder.size() + 1, left.size()));
    const fs::path path = fs::path(folder) / word;
    if (::access(path.c_str(), X_OK) == 0) return path.string();
  }
  return word;
}

/// Before what the variable has now.
std::string before_others(const char* name, const std::string& value) {
  const char* const others = std::getenv(name);
  return others == nullptr || *others == '\0' ? value : value + ":" + others;
}

std::string reason_without_trace(bool has_asked, double seconds) {
  if (!has_asked) {
    return "its LibTorch did not ask what to record: it is older than 2.7, was built without "
           "Kineto, or is not used; tbtrace::Profiler records such programs from within";
  }
  std::string text = std::to_string(seconds);
  text.resize(text.find('.') + 2);
  return "the program ended after " + text +
         " s, before its window was written; choose an earlier one with --after, such as --after "
         "0, and --seconds";
}

}  // namespace

bool is_libtorch_program(const std::string& word) {
  std::ifstream file(path_of(word), std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return content.starts_with(
             "\x7f"
             "ELF") &&
         (content.find("libtorch.so") != std::string::npos ||
          content.find("libtorch_cpu.so") != std::string::npos);
}

Result<std::unique_ptr<LibTorchRecording>> LibTorchRecording::make(const LibTorchWindow& window,
                                                                   const std::string& logs) {
  std::string folder = "/tmp/tbtrace-XXXXXX";  // Kineto takes 54 characters at most
  if (::mkdtemp(folder.data()) == nullptr) {
    return Status(StatusCode::unwritable_output,
                  "/tmp: cannot be written: " + std::string(std::strerror(errno)));
  }
  std::unique_ptr<LibTorchRecording> recording(new LibTorchRecording(window, logs, folder));
  std::ofstream library(folder + "/start_kineto.so", std::ios::binary);
  library.write(reinterpret_cast<const char*>(kStartKineto), sizeof(kStartKineto));
  library.flush();
  std::ofstream configuration(folder + "/kineto.conf");
  configuration << "ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS=1\n" << std::flush;
  if (!library || !configuration) {
    return Status(StatusCode::unwritable_output, "/tmp: cannot be written: is there room left?");
  }
  return recording;
}

LibTorchRecording::~LibTorchRecording() {
  has_ended_ = true;
  if (thread_.joinable()) thread_.join();
  std::error_code failed;
  fs::remove_all(folder_, failed);
}

std::vector<std::pair<std::string, std::string>> LibTorchRecording::environment() const {
  std::vector<std::pair<std::string, std::string>> set = {
      {"LD_PRELOAD", before_others("LD_PRELOAD", folder_ + "/start_kineto.so")},
      {"KINETO_USE_DAEMON", "1"},
      {"KINETO_IPC_SOCKET_DIR", folder_}};
  if (std::getenv("KINETO_CONFIG") == nullptr) {
    set.emplace_back("KINETO_CONFIG", folder_ + "/kineto.conf");
  }
  // Else it complains each second on standard error, while nothing answers.
  if (std::getenv("KINETO_LOG_LEVEL") == nullptr) set.emplace_back("KINETO_LOG_LEVEL", "99");
  return set;
}

void LibTorchRecording::start(int pid) {
  thread_ = std::thread([this, pid] { answer(pid); });
}

void LibTorchRecording::finish(RecordedProgram& program) {
  has_ended_ = true;
  if (thread_.joinable()) thread_.join();
  program.traces.insert(program.traces.end(), program_.traces.begin(), program_.traces.end());
  program.problems.insert(program.problems.end(), program_.problems.begin(),
                          program_.problems.end());
}

void LibTorchRecording::answer(int pid) {
  const Clock::time_point start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const Result<std::optional<KinetoDoor>> door = KinetoDoor::open(folder_, ::geteuid());
  const Result<RunningProcess> process = RunningProcess::of(pid);
  if (!door.ok() || !door->has_value() || !process.ok()) return;
  std::optional<KinetoRecording> recording;
  bool has_asked = false;
  bool is_last = false;
  while (!is_last) {
    is_last = has_ended_;
    pollfd waited = {.fd = (*door)->descriptor(), .events = POLLIN, .revents = 0};
    static_cast<void>(::poll(&waited, 1, is_last ? 0 : kPollMs));
    if (!recording && seconds() >= window_.after - kDelay) {
      Result<KinetoRecording> made = KinetoRecording::make({*process}, window_.kineto, logs_);
      if (!made.ok()) {
        program_.problems.push_back(made.status().message());
        return;
      }
      recording.emplace(std::move(*made));
    }
    has_asked = has_asked || (waited.revents & POLLIN) != 0;
    if (recording) {
      recording->advance(**door, program_);
    } else {
      while (const std::optional<KinetoPoll> poll = (*door)->next()) (*door)->answer(*poll, "");
    }
  }
  if (program_.traces.empty() && program_.problems.empty()) {
    program_.problems.push_back(reason_without_trace(has_asked, seconds()));
  }
}

}  // namespace tbtrace::tools
