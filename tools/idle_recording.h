// Recordings of Python programs that `tbtrace record --idle` started: their recorder does it when
// it is asked. One thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/status.h>

#include "recording_hook.h"
#include "running_process.h"

namespace tbtrace::tools {

/// The variable that names the folder of the recorder's sockets, in programs that have one.
inline constexpr const char* kIdleFolder = "TBTRACE_RECORD_IDLE";

class IdleRecording {
 public:
  explicit IdleRecording(std::string request) : request_(std::move(request)) {}
  IdleRecording(const IdleRecording&) = delete;
  IdleRecording& operator=(const IdleRecording&) = delete;
  /// Processes that have not ended by then record no more, and write what they have.
  ~IdleRecording();

  /// Asks a process. False if no recorder answers in it.
  Result<bool> ask(const RunningProcess& process);

  /// For poll(2).
  std::vector<int> descriptors() const;
  /// Takes what the processes said.
  void advance(RecordedProgram& program);
  /// Whether no more will come: all have ended, or one has a trace and the others are not at work.
  bool is_over() const;

 private:
  struct Connection {
    int socket = -1;
    bool is_at_work = false;  // a step or a window was seen
    bool is_over = false;
  };

  std::string request_;
  std::map<int, Connection> connections_;
  bool has_trace_ = false;
};

}  // namespace tbtrace::tools
