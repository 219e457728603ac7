#include "idle_recording.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace tbtrace::tools {
namespace {

/// -1 if there is no such folder. Fails if others can put sockets into it.
Result<int> open_folder(const std::string& path, ::uid_t user) {
  const int folder = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return -1;
  struct stat facts = {};
  if (::fstat(folder, &facts) != 0 || (facts.st_uid != user && facts.st_uid != ::geteuid()) ||
      (facts.st_mode & 077U) != 0) {
    ::close(folder);
    return Status(StatusCode::unreadable_input,
                  path + ": other users can write here, so nothing is asked through it");
  }
  return folder;
}

/// Whether the peer is the process itself.
bool is_of(int socket, const RunningProcess& process) {
  ucred peer = {};
  ::socklen_t size = sizeof(peer);
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.pid == process.pid() && peer.uid == process.user();
}

/// -1 if nothing answers.
int connect_to(int folder, const RunningProcess& process) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // Short, however long the folder's path is.
  static_cast<void>(std::snprintf(address.sun_path, sizeof(address.sun_path),
                                  "/proc/self/fd/%d/%d.socket", folder, process.pid()));
  const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  const bool is_connected =
      ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  if (is_connected && is_of(socket, process)) return socket;
  ::close(socket);
  return -1;
}

}  // namespace

IdleRecording::~IdleRecording() {
  for (const auto& [pid, connection] : connections_) {
    if (!connection.is_over) ::close(connection.socket);
  }
}

Result<bool> IdleRecording::ask(const RunningProcess& process) {
  const std::optional<std::string> path = process.variable(kIdleFolder);
  if (!path) return false;
  const Result<int> folder = open_folder(*path, process.user());
  if (!folder.ok()) return folder.status();
  if (*folder < 0) return false;
  const int socket = connect_to(*folder, process);
  ::close(*folder);
  if (socket < 0) return false;
  if (::send(socket, request_.data(), request_.size(), MSG_NOSIGNAL) < 0) {
    ::close(socket);
    return false;
  }
  connections_.emplace(process.pid(), Connection{.socket = socket});
  return true;
}

std::vector<int> IdleRecording::descriptors() const {
  std::vector<int> descriptors;
  for (const auto& [pid, connection] : connections_) {
    if (!connection.is_over) descriptors.push_back(connection.socket);
  }
  return descriptors;
}

void IdleRecording::advance(RecordedProgram& program) {
  for (auto& [pid, connection] : connections_) {
    while (!connection.is_over) {
      std::array<char, 8192> text = {};
      const ssize_t size = ::recv(connection.socket, text.data(), text.size(), MSG_DONTWAIT);
      if (size < 0 && (errno == EAGAIN || errno == EINTR)) break;
      if (size <= 0) {
        ::close(connection.socket);
        connection.is_over = true;
        break;
      }
      const std::string_view line(text.data(), static_cast<std::size_t>(size));
      take(line, program);
      const std::string_view kind = line.substr(0, line.find(' '));
      if (kind == "steps" || kind == "open") connection.is_at_work = true;
      if (kind == "empty") connection.is_at_work = false;
      if (kind == "trace") has_trace_ = true;
    }
  }
}

bool IdleRecording::is_over() const {
  return std::ranges::all_of(connections_, [&](const auto& entry) {
    return entry.second.is_over || (has_trace_ && !entry.second.is_at_work);
  });
}

}  // namespace tbtrace::tools
