#include "record_running.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <poll.h>

#include "idle_recording.h"
#include "kineto_door.h"
#include "kineto_recording.h"
#include "record_options.h"
#include "record_results.h"
#include "recording_hook.h"
#include "running_process.h"
#include "stop_signals.h"

namespace tbtrace::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kTorch = "libtorch_cpu";
constexpr int kPollMs = 50;  // traces of Kineto are looked for as often
constexpr std::chrono::seconds kSilence(15);

std::string name_of(int pid) { return "process " + std::to_string(pid); }

std::string counted(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " process" : " processes");
}

/// Processes whose Kineto asks at the same socket.
class KinetoGroup {
 public:
  explicit KinetoGroup(std::vector<RunningProcess> processes) : processes_(std::move(processes)) {}

  std::size_t size() const { return processes_.size(); }
  const KinetoDoor* door() const { return door_ ? &*door_ : nullptr; }
  bool is_over() const { return has_failed_ || (recording_ && recording_->is_over()); }

  /// As soon as no other process has the socket.
  void open(const KinetoWindow& window, const std::string& logs, RecordedProgram& program) {
    if (recording_ || has_failed_) return;
    const RunningProcess& first = processes_.front();
    const std::string folder = first.variable("KINETO_IPC_SOCKET_DIR").value_or("");
    Result<std::optional<KinetoDoor>> door = KinetoDoor::open(folder, first.user());
    if (!door.ok()) return fail(door.status(), program);
    if (!door->has_value()) return;
    Result<KinetoRecording> recording = KinetoRecording::make(processes_, window, logs);
    if (!recording.ok()) return fail(recording.status(), program);
    door_.emplace(std::move(**door));
    recording_.emplace(std::move(*recording));
  }

  void advance(RecordedProgram& program) {
    if (recording_) recording_->advance(*door_, program);
  }

  std::vector<std::string> problems() const {
    if (has_failed_) return {};
    if (recording_) return recording_->problems();
    return {
        "the socket of Kineto's daemon is in use by another program, such as dynolog (`dyno "
        "gputrace` asks that one) or another `tbtrace record`"};
  }

 private:
  void fail(const Status& status, RecordedProgram& program) {
    has_failed_ = true;
    program.problems.push_back(status.message());
  }

  std::vector<RunningProcess> processes_;
  std::optional<KinetoDoor> door_;
  std::optional<KinetoRecording> recording_;
  bool has_failed_ = false;
};

/// The processes that were named and what they started, each once. What cannot be looked into is
/// left out, unless it was named.
Result<std::vector<RunningProcess>> chosen_processes(const OptionParser& parser) {
  std::vector<RunningProcess> processes;
  std::set<int> seen;
  for (const std::string_view text : list_of(parser.text("pid"))) {
    const std::optional<std::int64_t> named = whole_number(text);
    const int first = static_cast<int>(named.value_or(0));
    Result<RunningProcess> process = RunningProcess::of(first);
    if (!process.ok()) return process.status();
    if (process->is_in_another_container()) {
      return Status(StatusCode::unreadable_input,
                    name_of(first) + " runs in another container; run tbtrace in that one");
    }
    for (const int pid : with_descendants(first)) {
      if (!seen.insert(pid).second) continue;
      Result<RunningProcess> found = RunningProcess::of(pid);
      if (found.ok() && !found->is_in_another_container()) processes.push_back(std::move(*found));
    }
  }
  return processes;
}

/// Why no way leads to the processes, and what to do next time.
std::string reason_without_way(const std::vector<RunningProcess>& processes) {
  const std::string name = name_of(processes.front().pid());
  const auto any = [&](auto&& is_it) { return std::ranges::any_of(processes, is_it); };
  if (!any([](const RunningProcess& process) { return process.maps(kTorch); })) {
    return name + " has not loaded PyTorch, nor has a process that it started; " +
           (any([](const RunningProcess& process) {
             return process.variable(kIdleFolder).has_value();
           })
                ? "try again when it has"
                : "name the one that trains, or its launcher: `pgrep -af python` lists them");
  }
  return name +
         " cannot be recorded from outside, as it was not started for that; start it next "
         "time with `tbtrace record --idle -- COMMAND`, or with KINETO_USE_DAEMON=1 in its "
         "environment (torch 2.7 or newer)";
}

class RunningRecording {
 public:
  RunningRecording(const OptionParser& parser, const std::string& logs, Console& console)
      : parser_(parser), logs_(logs), console_(console), idle_(options_of_request(parser, logs)) {}

  /// Fails if nothing can be asked.
  Status find_ways(const std::vector<RunningProcess>& processes) {
    using Place = std::tuple<::uid_t, std::optional<std::string>, std::optional<std::string>>;
    std::map<Place, std::vector<RunningProcess>> by_kineto;
    std::size_t idle = 0;
    std::size_t kineto = 0;
    for (const RunningProcess& process : processes) {
      const Result<bool> is_asked = idle_.ask(process);
      if (!is_asked.ok()) return is_asked.status();
      if (*is_asked) {
        ++idle;
      } else if (process.variable("KINETO_USE_DAEMON") && process.maps(kTorch)) {
        ++kineto;
        by_kineto[{process.user(), process.variable("KINETO_IPC_SOCKET_DIR"),
                   process.variable("KINETO_ONDEMAND_TRACE_DIR")}]
            .push_back(process);
      }
    }
    for (auto& [place, group] : by_kineto) groups_.emplace_back(std::move(group));
    if (idle + kineto == 0) {
      return {StatusCode::unreadable_input, reason_without_way(processes)};
    }
    if (idle > 0) {
      console_.message("record", counted(idle) + " asked, by the recorder of `record --idle`");
    }
    if (kineto > 0) say_kineto(kineto);
    return {};
  }

  /// Until all have ended. Returns the signal that ended it before, else 0.
  int wait() {
    const StopSignals stop;
    const Clock::time_point start = Clock::now();
    bool is_said = false;
    while (true) {
      idle_.advance(program_);
      const bool kineto_is_over = advance_kineto(Clock::now() - start);
      if (idle_.is_over() && kineto_is_over) return 0;
      if (!is_said && Clock::now() - start > kSilence) {
        console_.message("record", "still waiting for the end of the recording; Ctrl-C gives up");
        is_said = true;
      }
      poll_once(stop);
      if (const int signal = stop.came(); signal != 0) return signal;
    }
  }

  RecordedProgram result() const {
    RecordedProgram result = program_;
    for (const KinetoGroup& group : groups_) {
      const std::vector<std::string> problems = group.problems();
      result.problems.insert(result.problems.end(), problems.begin(), problems.end());
    }
    return result;
  }

 private:
  void say_kineto(std::size_t count) {
    console_.message("record", counted(count) +
                                   " asked, by Kineto's daemon client (KINETO_USE_DAEMON); it "
                                   "begins within 9 seconds");
    for (const char* const name : {"skip", "memory-snapshot"}) {
      if (parser_.given(name)) {
        console_.warning("record", "--" + std::string(name) +
                                       " has no effect there; it needs a program that `tbtrace "
                                       "record --idle` started");
      }
    }
  }

  KinetoWindow window() const {
    std::size_t processes = 0;
    for (const KinetoGroup& group : groups_) processes += group.size();
    KinetoWindow window = kineto_window(parser_);
    window.begins_together = processes > 1 && !parser_.given("steps");
    if (is_by_time(parser_) || window.begins_together) {
      window.seconds = seconds_of(parser_.text("seconds")).value_or(2);
    }
    return window;
  }

  /// Whether it is over.
  bool advance_kineto(Clock::duration passed) {
    const std::chrono::duration<double> after(seconds_of(parser_.text("after")).value_or(0));
    for (KinetoGroup& group : groups_) {
      if (passed >= after) group.open(window(), logs_, program_);
      group.advance(program_);
    }
    return std::ranges::all_of(groups_, [](const KinetoGroup& group) { return group.is_over(); });
  }

  void poll_once(const StopSignals& stop) const {
    std::vector<pollfd> waited = {{.fd = stop.descriptor(), .events = POLLIN, .revents = 0}};
    for (const int socket : idle_.descriptors()) waited.push_back({socket, POLLIN, 0});
    for (const KinetoGroup& group : groups_) {
      if (group.door() != nullptr) waited.push_back({group.door()->descriptor(), POLLIN, 0});
    }
    static_cast<void>(::poll(waited.data(), waited.size(), kPollMs));
  }

  const OptionParser& parser_;
  const std::string& logs_;
  Console& console_;
  IdleRecording idle_;
  std::vector<KinetoGroup> groups_;
  RecordedProgram program_;
};

}  // namespace

int record_running(const OptionParser& parser, const std::string& logs, Console& console) {
  const Result<std::vector<RunningProcess>> processes = chosen_processes(parser);
  if (!processes.ok()) {
    console.error("record", processes.status().message());
    return kUnreadableInput;
  }
  RunningRecording recording(parser, logs, console);
  if (const Status found = recording.find_ways(*processes); !found.ok()) {
    console.error("record", found.message());
    return kUnreadableInput;
  }
  const int signal = recording.wait();
  const RecordedProgram program = recording.result();
  const int code = show_recording(program, "nothing was recorded", logs, parser, console);
  if (signal != 0) return 128 + signal;
  return program.traces.empty() ? kUnreadableInput : code;
}

}  // namespace tbtrace::tools
