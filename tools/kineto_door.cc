#include "kineto_door.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tbtrace::tools {
namespace {

constexpr std::string_view kName = "dynolog";  // Kineto knows no other
// Kineto appends /dynoconfigclient and 36 characters, and does not check that they fit.
constexpr std::size_t kLongestFolder = sizeof(sockaddr_un::sun_path) - 1 - 17 - 36;

// As Kineto's C structures lie in memory.
struct Header {
  std::uint64_t size = 0;  // of what follows
  std::array<char, 32> type = {};
};
struct Request {
  std::int32_t type = 0;  // bits: 1 events, 2 activities
  std::int32_t count = 0;
  std::int64_t job = 0;
};
constexpr std::int32_t kAnyType = 3;

Status unusable(const std::string& folder, const std::string& why) {
  return {StatusCode::unwritable_output,
          (folder.empty() ? "Kineto's socket" : folder) + ": cannot be used: " + why};
}

Status unusable(const std::string& folder, int error) {
  return unusable(folder, std::strerror(error));
}

std::pair<sockaddr_un, ::socklen_t> address_of(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty()) {  // an abstract name; Kineto counts a NUL at its end
    std::memcpy(address.sun_path + 1, kName.data(), kName.size());
    return {address, offsetof(sockaddr_un, sun_path) + 1 + kName.size() + 1};
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return {address, sizeof(address)};
}

/// Whether the socket file is left from a process that has ended.
bool is_left_over(int socket, const std::string& path) {
  const auto [address, size] = address_of(path);
  return ::connect(socket, reinterpret_cast<const sockaddr*>(&address), size) != 0 &&
         errno == ECONNREFUSED;
}

int bind_to(int socket, const std::string& path) {
  const auto [address, size] = address_of(path);
  return ::bind(socket, reinterpret_cast<const sockaddr*>(&address), size) == 0 ? 0 : errno;
}

/// Locks the folder, so that two of these do not take each other's socket for one that is left.
Result<int> locked(const std::string& folder) {
  const int lock = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (lock < 0) return unusable(folder, errno);
  if (::flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
  ::close(lock);
  return -1;
}

std::string_view type_of(const Header& header) {
  return {header.type.data(), ::strnlen(header.type.data(), header.type.size())};
}

}  // namespace

Result<std::optional<KinetoDoor>> KinetoDoor::open(const std::string& folder, ::uid_t user) {
  if (folder.size() > kLongestFolder) {
    return unusable(folder, "the path of KINETO_IPC_SOCKET_DIR may have 54 bytes");
  }
  int lock = -1;
  if (!folder.empty()) {
    const Result<int> found = locked(folder);
    if (!found.ok()) return found.status();
    if (*found < 0) return std::optional<KinetoDoor>();
    lock = *found;
  }
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  KinetoDoor door(socket, lock, "");  // closes both
  if (socket < 0) return unusable(folder, errno);
  const std::string path = folder.empty() ? "" : folder + "/" + std::string(kName);
  int problem = bind_to(socket, path);
  if (problem == EADDRINUSE && !path.empty() && is_left_over(socket, path)) {
    ::unlink(path.c_str());
    problem = bind_to(socket, path);
  }
  if (problem == EADDRINUSE) return std::optional<KinetoDoor>();
  if (problem != 0) return unusable(folder, problem);
  door.path_ = path;
  const int on = 1;
  if (::setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0) {
    return unusable(folder, errno);
  }
  if (!path.empty() && user != ::geteuid() && ::lchown(path.c_str(), user, -1) != 0) {
    return unusable(folder, errno);
  }
  return std::optional<KinetoDoor>(std::move(door));
}

KinetoDoor::~KinetoDoor() {
  if (!path_.empty()) ::unlink(path_.c_str());
  if (socket_ >= 0) {
    while (const std::optional<KinetoPoll> poll = next()) answer(*poll, "");  // it waits for one
    ::close(socket_);
  }
  if (lock_ >= 0) ::close(lock_);
}

std::optional<KinetoPoll> KinetoDoor::next() const {
  while (true) {
    KinetoPoll poll;
    Header header;
    Request request;
    iovec parts[] = {{&header, sizeof(header)}, {&request, sizeof(request)}};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control = {};
    msghdr message = {};
    message.msg_name = &poll.address;
    message.msg_namelen = sizeof(poll.address);
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = ::recvmsg(socket_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size < 0) return std::nullopt;
    poll.address_size = message.msg_namelen;
    const cmsghdr* const first = CMSG_FIRSTHDR(&message);
    if (first != nullptr && first->cmsg_type == SCM_CREDENTIALS) {
      ucred sender = {};
      std::memcpy(&sender, CMSG_DATA(first), sizeof(sender));
      poll.pid = sender.pid;
    }
    const bool is_whole = size >= static_cast<ssize_t>(sizeof(header) + sizeof(request));
    if (poll.address_size <= offsetof(sockaddr_un, sun_path) || !is_whole) continue;
    if (type_of(header) == "ctxt") send(poll, "ctxt", {"\1\0\0\0", 4});  // how many there are
    if (type_of(header) != "req") continue;
    poll.is_free = (request.type & kAnyType) != 0;
    return poll;
  }
}

void KinetoDoor::answer(const KinetoPoll& poll, std::string_view configuration) const {
  send(poll, "req", configuration);
}

void KinetoDoor::send(const KinetoPoll& to, std::string_view type, std::string_view body) const {
  Header header{.size = body.size()};
  std::memcpy(header.type.data(), type.data(), type.size());
  std::string text(reinterpret_cast<const char*>(&header), sizeof(header));
  text += body;
  // Nothing is to be done about a program that has ended.
  static_cast<void>(::sendto(socket_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&to.address), to.address_size));
}

}  // namespace tbtrace::tools
