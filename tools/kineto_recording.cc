#include "kineto_recording.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "json_string.h"

namespace tbtrace::tools {
namespace {

namespace fs = std::filesystem;
using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kInterval(5);  // in which Kineto asks
constexpr seconds kWarmup(1);
constexpr seconds kDelay(2);  // of a window by time, after the warm-up
constexpr seconds kPatience(12);
constexpr seconds kWriting(120);  // a trace, after its window

/// Of KINETO_ONDEMAND_TRACE_DIR, which is the only place where Kineto writes.
Result<std::string> make_folder(const RunningProcess& process) {
  const std::string parent = process.variable("KINETO_ONDEMAND_TRACE_DIR").value_or("/tmp");
  std::string folder = (fs::path(parent.empty() ? "/tmp" : parent) / "tbtrace-XXXXXX").string();
  const auto unwritable = [&](const std::string& why) {
    return Status(StatusCode::unwritable_output,
                  parent + ": Kineto writes traces here, and it cannot be used: " + why);
  };
  if (folder.find_first_of("#=\n") != std::string::npos) {
    return unwritable("Kineto takes no # and = in paths");
  }
  if (::mkdtemp(folder.data()) == nullptr) return unwritable(std::strerror(errno));
  if (process.user() != ::geteuid() && ::lchown(folder.c_str(), process.user(), -1) != 0) {
    return unwritable(std::strerror(errno));
  }
  return folder;
}

/// The content of a trace that is whole.
std::optional<std::string> whole_trace(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(-8, std::ios::end);
  const std::string tail{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t end = tail.find_last_not_of(" \n\r\t");
  if (end == std::string::npos || tail[end] != '}') return std::nullopt;
  file.clear();
  file.seekg(0);
  return std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::optional<std::string> first_of(const RunningProcess& process,
                                    std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    std::optional<std::string> value = process.variable(name);
    if (value && !value->empty() && value->find_first_not_of("0123456789") == std::string::npos) {
      return value;
    }
  }
  return std::nullopt;
}

/// Rank and number of ranks, as launchers say them in the environment.
std::optional<std::pair<std::string, std::string>> rank_of(const RunningProcess& process) {
  const auto rank =
      first_of(process, {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"});
  const auto size = first_of(
      process, {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "SLURM_NTASKS"});
  if (!rank || !size || *size == "1") return std::nullopt;
  return std::pair(*rank, *size);
}

/// What Kineto does not say of a process, as members before those of its document.
void add_metadata(std::string& trace, const RunningProcess& process) {
  std::string members = "\"command\": " + json_string(process.command()) + ",";
  if (const auto rank = rank_of(process);
      rank && trace.find("\"distributedInfo\"") == std::string::npos) {
    members += "\n\"distributedInfo\": {\"backend\": \"\", \"rank\": " + rank->first +
               ", \"world_size\": " + rank->second + "},";
  }
  trace.insert(trace.find('{') + 1, members);
}

std::string trace_name(const RunningProcess& process) {
  char host[256] = {};
  ::gethostname(host, sizeof(host) - 1);
  const auto rank = rank_of(process);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return (rank ? "rank" + rank->first + "_" : "") + host + "_" + std::to_string(process.pid()) +
         "." + std::to_string(duration_cast<std::chrono::nanoseconds>(now).count()) +
         ".pt.trace.json";
}

/// Empty if it was written; else the reason.
std::string problem_of_writing(const std::string& path, const std::string& text) {
  const std::string unfinished = path + ".tbtrace-partial";
  std::ofstream file(unfinished, std::ios::binary);
  file << text << std::flush;
  std::error_code failed;
  if (file) fs::rename(unfinished, path, failed);
  if (file && !failed) return {};
  fs::remove(unfinished, failed);
  return "is there room left?";
}

std::string yes_or_no(bool value) { return value ? "true\n" : "false\n"; }

}  // namespace

KinetoRecording::KinetoRecording(const KinetoWindow& window, std::string logs, std::string folder)
    : window_(window), logs_(std::move(logs)), folder_(std::move(folder)), start_(Clock::now()) {}

Result<KinetoRecording> KinetoRecording::make(std::vector<RunningProcess> processes,
                                              const KinetoWindow& window, const std::string& logs) {
  Result<std::string> folder = make_folder(processes.front());
  if (!folder.ok()) return folder.status();
  KinetoRecording recording(window, logs, *folder);
  for (RunningProcess& process : processes) {
    const int pid = process.pid();
    recording.states_.emplace(pid, State{.process = std::move(process)});
  }
  recording.configuration_ = recording.configuration();
  return recording;
}

KinetoRecording::~KinetoRecording() {
  std::error_code failed;
  if (!folder_.empty() && !keeps_folder_) fs::remove_all(folder_, failed);
}

std::string KinetoRecording::configuration() const {
  std::string text = "ACTIVITIES_LOG_FILE=" + folder_ + "/trace.json\n";
  if (window_.seconds > 0) {
    text += "ACTIVITIES_DURATION_MSECS=" + std::to_string(std::lround(window_.seconds * 1000)) +
            "\nACTIVITIES_WARMUP_PERIOD_SECS=" + std::to_string(kWarmup.count()) + "\n";
    if (window_.begins_together) {
      const auto begin = std::chrono::system_clock::now() + kInterval + kWarmup + kDelay;
      text += "PROFILE_START_TIME=" +
              std::to_string(duration_cast<milliseconds>(begin.time_since_epoch()).count()) + "\n";
    }
  } else {
    text +=
        "PROFILE_START_ITERATION=0\nPROFILE_START_ITERATION_ROUNDUP=1\n"
        "ACTIVITIES_WARMUP_ITERATIONS=1\nACTIVITIES_ITERATIONS=" +
        std::to_string(window_.steps) + "\n";
  }
  return text + "PROFILE_REPORT_INPUT_SHAPES=" + yes_or_no(window_.record_shapes) +
         "PROFILE_PROFILE_MEMORY=" + yes_or_no(window_.profile_memory) +
         "PROFILE_WITH_STACK=" + yes_or_no(window_.with_stack) +
         "PROFILE_WITH_MODULES=" + yes_or_no(window_.with_modules);
}

void KinetoRecording::advance(const KinetoDoor& door, RecordedProgram& program) {
  while (const std::optional<KinetoPoll> poll = door.next()) {
    const auto found = states_.find(poll->pid);
    const bool is_wanted = found != states_.end() && !found->second.is_asked;
    door.answer(*poll, is_wanted && poll->is_free ? std::string_view(configuration_) : "");
    if (!is_wanted) continue;
    found->second.is_busy = !poll->is_free;
    found->second.is_asked = poll->is_free;
  }
  for (auto& [pid, state] : states_) {
    if (state.is_done || state.has_ended) continue;
    state.has_ended = !is_running(pid);
    if (state.is_asked) take(state, program);
  }
}

void KinetoRecording::take(State& state, RecordedProgram& program) {
  const std::string pid = std::to_string(state.process.pid());
  const std::string path = folder_ + "/trace_" + pid + ".json";
  std::optional<std::string> trace = whole_trace(path);
  if (!trace) return;
  state.is_done = true;
  add_metadata(*trace, state.process);
  const std::string place = (fs::path(logs_) / trace_name(state.process)).string();
  const std::string problem = problem_of_writing(place, *trace);
  if (problem.empty()) {
    program.traces.push_back(place);
    return;
  }
  keeps_folder_ = true;
  program.problems.push_back(place + ": cannot be written: " + problem + " The trace is still in " +
                             path);
}

bool KinetoRecording::has_asked() const {
  return std::ranges::any_of(states_, [](const auto& entry) { return entry.second.is_asked; });
}

bool KinetoRecording::is_over() const {
  const auto passed = Clock::now() - start_;
  const auto all_asked = passed > (has_asked() ? kInterval + seconds(1) : kPatience);
  const auto window = milliseconds(std::lround(window_.seconds * 1000));
  const bool is_late =
      window_.seconds > 0 && passed > kPatience + kInterval + kWarmup + kDelay + window + kWriting;
  return std::ranges::all_of(states_, [&](const auto& entry) {
    const State& state = entry.second;
    return state.is_done || state.has_ended || is_late || (all_asked && !state.is_asked);
  });
}

std::vector<std::string> KinetoRecording::problems() const {
  std::vector<std::string> texts;
  for (const auto& [pid, state] : states_) {
    const std::string name = "process " + std::to_string(pid);
    if (state.is_done) continue;
    if (state.has_ended) {
      texts.push_back(name + " ended before its trace was written");
    } else if (state.is_busy) {
      texts.push_back(name + " is recorded by another profiler, such as its own; try again later");
    } else if (state.is_asked) {
      texts.push_back(name + " was asked and wrote no trace; is there room left in /tmp?");
    } else if (!has_asked()) {
      texts.push_back(name +
                      " has not asked what to record; Kineto does every 5 seconds, from torch "
                      "2.7 on, unless the process is stopped");
    }
  }
  return texts;
}

}  // namespace tbtrace::tools
