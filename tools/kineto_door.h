// The socket at which Kineto, torch's profiler, asks what to record: every few seconds, in programs
// that were started with KINETO_USE_DAEMON. One thread.
//
// A wrong answer ends the program that asked, so answers come from the socket's own name only, and
// at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <tbtrace/status.h>

namespace tbtrace::tools {

struct KinetoPoll {
  int pid = 0;           ///< as the kernel says
  bool is_free = false;  ///< it records nothing now
  sockaddr_un address = {};
  ::socklen_t address_size = 0;
};

class KinetoDoor {
 public:
  /// `folder`: KINETO_IPC_SOCKET_DIR of the programs, of user `user`; empty: the name that all
  /// programs of this machine share. nullopt if another process has the name now.
  static Result<std::optional<KinetoDoor>> open(const std::string& folder, ::uid_t user);
  KinetoDoor(KinetoDoor&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)),
        lock_(std::exchange(other.lock_, -1)),
        path_(std::exchange(other.path_, {})) {}
  KinetoDoor& operator=(KinetoDoor&&) = delete;
  /// Removes the socket, so that programs notice at once that it is gone.
  ~KinetoDoor();

  /// For poll(2).
  int descriptor() const { return socket_; }
  /// The next request that has come.
  std::optional<KinetoPoll> next() const;
  /// `configuration`: empty if there is nothing to record.
  void answer(const KinetoPoll& poll, std::string_view configuration) const;

 private:
  KinetoDoor(int socket, int lock, std::string path)
      : socket_(socket), lock_(lock), path_(std::move(path)) {}

  void send(const KinetoPoll& to, std::string_view type, std::string_view body) const;

  int socket_;
  int lock_;          // the folder, locked; -1 without one
  std::string path_;  // empty without a folder
};

}  // namespace tbtrace::tools
