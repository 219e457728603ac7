// What Linux says of processes that run: /proc. One thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <tbtrace/status.h>

namespace tbtrace::tools {

class RunningProcess {
 public:
  /// Fails, with the reason, if there is none or it must not be looked into.
  static Result<RunningProcess> of(int pid);

  int pid() const { return pid_; }
  ::uid_t user() const { return user_; }
  /// Of the environment that it was started with.
  std::optional<std::string> variable(std::string_view name) const;
  /// As a shell takes it.
  std::string command() const;
  /// Whether it has a library or program open whose path has `name` in it.
  bool maps(std::string_view name) const;
  /// Whether it sees the files and process ids that this process sees.
  bool is_in_another_container() const;

 private:
  RunningProcess(int pid, ::uid_t user, std::string environment)
      : pid_(pid), user_(user), environment_(std::move(environment)) {}

  int pid_;
  ::uid_t user_;
  std::string environment_;  // NUL after each variable
};

bool is_running(int pid);

/// The process, and all that it started, directly or not. Parents come first.
std::vector<int> with_descendants(int pid);

}  // namespace tbtrace::tools
