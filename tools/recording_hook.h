// What a program's Python finds first while it is recorded: a folder for PYTHONPATH, which
// processes write into what they did. One thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/status.h>

namespace tbtrace::tools {

/// What the processes of a program said.
struct RecordedProgram {
  bool has_python = false;
  bool has_torch = false;
  int open_windows = 0;    ///< that began and did not end
  int most_steps = 0;      ///< that one process made
  std::string steps_by{};  ///< `optimizer` or `module`
  std::vector<std::string> traces{};
  std::vector<std::string> snapshots{};
  std::vector<std::string> problems{};  ///< each once
};

/// A line that a process said: a kind and a text, with a space between them.
void take(std::string_view line, RecordedProgram& program);

class RecordingHook {
 public:
  /// In `logs`, so that all machines of a job see it. No other user can read it.
  static Result<RecordingHook> make(const std::string& logs, const std::string& options);
  RecordingHook(RecordingHook&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  RecordingHook& operator=(RecordingHook&&) = delete;
  /// Removes the folder.
  ~RecordingHook();

  const std::string& folder() const { return folder_; }
  /// PYTHONPATH with the folder before what it has now.
  std::string python_path() const;

  RecordedProgram said() const;

 private:
  explicit RecordingHook(std::string folder) : folder_(std::move(folder)) {}
  Status write(const std::string& options) const;

  std::string folder_;
};

}  // namespace tbtrace::tools
