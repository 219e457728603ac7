// A recording of processes that Kineto makes because its socket says so. One thread.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include <tbtrace/status.h>

#include "kineto_door.h"
#include "recording_hook.h"
#include "running_process.h"

namespace tbtrace::tools {

/// What to record. Kineto has no more.
struct KinetoWindow {
  int steps = 3;
  double seconds = 0;  ///< by time instead; 0: by steps, in programs that Kineto sees steps of
  bool begins_together = false;  ///< by time: in all processes at one moment
  bool record_shapes = true;
  bool profile_memory = false;
  bool with_stack = false;
  bool with_modules = false;
};

class KinetoRecording {
 public:
  /// `processes` are of one user and have the same KINETO_ONDEMAND_TRACE_DIR. `logs` is for their
  /// traces.
  static Result<KinetoRecording> make(std::vector<RunningProcess> processes,
                                      const KinetoWindow& window, const std::string& logs);
  KinetoRecording(KinetoRecording&& other) noexcept = default;
  KinetoRecording& operator=(KinetoRecording&&) = delete;
  /// Removes the folder of traces that are not finished.
  ~KinetoRecording();

  /// Answers what has come to the door, and takes the traces that are there.
  void advance(const KinetoDoor& door, RecordedProgram& program);
  /// Whether no more will come.
  bool is_over() const;
  bool has_asked() const;
  /// Why there is no trace of processes that have none.
  std::vector<std::string> problems() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct State {
    RunningProcess process;
    bool is_busy = false;
    bool is_asked = false;
    bool is_done = false;
    bool has_ended = false;
  };

  KinetoRecording(const KinetoWindow& window, std::string logs, std::string folder);
  std::string configuration() const;
  void take(State& state, RecordedProgram& program);

  KinetoWindow window_;
  std::string logs_;
  std::string folder_;
  bool keeps_folder_ = false;
  std::map<int, State> states_;
  Clock::time_point start_;
  std::string configuration_;
};

}  // namespace tbtrace::tools
