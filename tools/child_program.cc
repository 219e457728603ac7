#include "child_program.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tbtrace::tools {
namespace {

/// Signals are not delivered but waited for while an object lives.
class WaitedSignals {
 public:
  WaitedSignals() {
    sigemptyset(&waited_);
    for (const int signal : {SIGCHLD, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2}) {
      sigaddset(&waited_, signal);
    }
    sigprocmask(SIG_BLOCK, &waited_, &before_);
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;  // with SIG_IGN the program's end would be lost
    sigaction(SIGCHLD, &standard, &child_);
  }
  ~WaitedSignals() { restore(); }
  WaitedSignals(const WaitedSignals&) = delete;
  WaitedSignals& operator=(const WaitedSignals&) = delete;

  void restore() const {
    sigaction(SIGCHLD, &child_, nullptr);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

  siginfo_t next() const {
    siginfo_t signal = {};
    while (sigwaitinfo(&waited_, &signal) < 0 && errno == EINTR) {
    }
    return signal;
  }

 private:
  sigset_t waited_ = {};
  sigset_t before_ = {};
  struct sigaction child_ = {};
};

/// Becomes the program; if that fails, writes errno to the pipe.
[[noreturn]] void become(const std::vector<std::string>& words,
                         const std::vector<std::pair<std::string, std::string>>& environment,
                         int pipe) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  ::execvp(arguments.front(), arguments.data());
  const int problem = errno;
  [[maybe_unused]] const auto written = ::write(pipe, &problem, sizeof(problem));
  ::_exit(127);
}

/// 0 once the program runs.
int problem_in(int pipe) {
  int problem = 0;
  while (::read(pipe, &problem, sizeof(problem)) < 0 && errno == EINTR) {
  }
  return problem;
}

}  // namespace

ProgramEnd run_program(const std::vector<std::string>& words,
                       const std::vector<std::pair<std::string, std::string>>& environment,
                       const std::function<void(int)>& on_start) {
  int ends[2] = {};
  if (::pipe2(ends, O_CLOEXEC) != 0) return {.not_started = errno};
  const WaitedSignals signals;
  const ::pid_t child = ::fork();
  if (child == 0) {
    signals.restore();
    become(words, environment, ends[1]);
  }
  const int not_forked = child < 0 ? errno : 0;
  ::close(ends[1]);
  const int problem = not_forked != 0 ? not_forked : problem_in(ends[0]);
  ::close(ends[0]);
  int state = 0;
  if (problem != 0) {
    if (child > 0) ::waitpid(child, &state, 0);
    return {.not_started = problem};
  }
  on_start(child);
  while (::waitpid(child, &state, WNOHANG) != child) {
    const siginfo_t signal = signals.next();
    const bool is_sent = signal.si_code <= 0;  // by a process; the terminal's have gone to both
    if (signal.si_signo != SIGCHLD && is_sent && signal.si_pid != child) {
      ::kill(child, signal.si_signo);
    }
  }
  if (WIFSIGNALED(state)) return {.signal = WTERMSIG(state)};
  return {.exit_code = WEXITSTATUS(state)};
}

int end_like(const ProgramEnd& end) {
  if (end.signal == 0) return end.exit_code;
  const rlimit none = {};
  ::setrlimit(RLIMIT_CORE, &none);  // this process has done nothing wrong
  static_cast<void>(::signal(end.signal, SIG_DFL));
  static_cast<void>(::raise(end.signal));
  return 128 + end.signal;
}

}  // namespace tbtrace::tools
