// Signals that ask this process to end, as something to wait for: it cleans up first. One thread.
#pragma once

#include <csignal>

#include <sys/signalfd.h>
#include <unistd.h>

namespace tbtrace::tools {

/// SIGINT, SIGTERM and SIGHUP do nothing else while an object lives.
class StopSignals {
 public:
  StopSignals() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    sigprocmask(SIG_BLOCK, &signals_, &before_);
    descriptor_ = ::signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~StopSignals() {
    ::close(descriptor_);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// For poll(2): readable once a signal has come.
  int descriptor() const { return descriptor_; }

  /// Which signal came; 0 if none has.
  int came() const {
    signalfd_siginfo signal = {};
    return ::read(descriptor_, &signal, sizeof(signal)) == sizeof(signal)
               ? static_cast<int>(signal.ssi_signo)
               : 0;
  }

 private:
  sigset_t signals_ = {};
  sigset_t before_ = {};
  int descriptor_ = -1;
};

}  // namespace tbtrace::tools
