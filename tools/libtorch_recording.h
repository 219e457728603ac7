// A LibTorch program in C++ that is recorded without changing it: a library that is loaded into it
// starts Kineto's daemon client, and a thread here answers that.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tbtrace/status.h>

#include "kineto_door.h"
#include "kineto_recording.h"
#include "recording_hook.h"

namespace tbtrace::tools {

/// Whether a command's first word names a program that is linked with LibTorch's libraries.
bool is_libtorch_program(const std::string& word);

/// When its window begins, in seconds after its start, and what is in it.
struct LibTorchWindow {
  double after = 10;
  KinetoWindow kineto;
};

/// One thread calls; another one answers the program between start() and finish().
class LibTorchRecording {
 public:
  static Result<std::unique_ptr<LibTorchRecording>> make(const LibTorchWindow& window,
                                                         const std::string& logs);
  LibTorchRecording(const LibTorchRecording&) = delete;
  LibTorchRecording& operator=(const LibTorchRecording&) = delete;
  /// Removes what make() wrote.
  ~LibTorchRecording();

  /// Variables for the program. `record --pid` can then ask it, too.
  std::vector<std::pair<std::string, std::string>> environment() const;
  /// The program runs, and is to be recorded.
  void start(int pid);
  /// The program has ended.
  void finish(RecordedProgram& program);

 private:
  LibTorchRecording(const LibTorchWindow& window, std::string logs, std::string folder)
      : window_(window), logs_(std::move(logs)), folder_(std::move(folder)) {}
  void answer(int pid);

  LibTorchWindow window_;
  std::string logs_;
  std::string folder_;
  std::atomic<bool> has_ended_ = false;
  std::thread thread_;
  RecordedProgram program_;  // of the thread
};

}  // namespace tbtrace::tools
