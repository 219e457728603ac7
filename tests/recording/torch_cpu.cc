// A library with LibTorch's name whose Kineto asks what to record, and writes an empty trace when
// it is told to. TEST_SILENT: it does not ask.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

sockaddr_un address_of(const std::string& name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string path = std::getenv("KINETO_IPC_SOCKET_DIR") + ("/" + name);
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  return address;
}

struct Request {
  std::uint64_t size = 20;
  std::array<char, 32> kind = {'r', 'e', 'q'};
  std::int32_t type = 2;
  std::int32_t count = 1;
  std::int64_t job = 0;
  std::int32_t pid = ::getpid();
};

void write_trace(const std::string& configuration) {
  std::string path = configuration.substr(configuration.find('=') + 1);
  path.resize(path.find(".json"));
  std::ofstream(path + "_" + std::to_string(::getpid()) + ".json")
      << R"({"schemaVersion": 1, "traceEvents": []})";
}

void ask() {
  const int own = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  const sockaddr_un client = address_of("dynoconfigclient");
  const sockaddr_un server = address_of("dynolog");
  if (::bind(own, reinterpret_cast<const sockaddr*>(&client), sizeof(client)) != 0) return;
  const timeval patience = {.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(own, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  while (true) {
    const Request request;
    std::array<char, 4096> answer = {};
    if (::sendto(own, &request, 60, 0, reinterpret_cast<const sockaddr*>(&server), sizeof(server)) >
        0) {
      const ssize_t size = ::recv(own, answer.data(), answer.size() - 1, 0);
      if (size > 40) write_trace(answer.data() + 40);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void start() __asm__(
    "_ZN5torch18global_kineto_initEv");
void start() {
  if (std::getenv("KINETO_USE_DAEMON") == nullptr) std::abort();
  if (std::getenv("TEST_SILENT") == nullptr) std::thread(ask).detach();
}
