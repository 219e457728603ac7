// A process that leaves a journal behind.
//   left_journal DIRECTORY         records for a second and is killed
//   left_journal DIRECTORY wait    says `recording` and waits to be killed
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "recorder/journal/journal.h"
#include "recorder/journal/layout.h"
#include "recorder/log/record.h"
#include "recorder/log/recording.h"

namespace {

using namespace tbtrace::recorder;

void range(ThreadLog& log, std::string_view name, std::chrono::milliseconds length) {
  write(log, BeginRecord{.ticks = ticks(), .name = log.names().find(name), .key = 1});
  std::this_thread::sleep_for(length);
  write(log, EndRecord{.ticks = ticks(), .key = 1});
}

/// In ticks. Gives up the lock of the journal, as its process's end does.
std::uint64_t last_sign_of_life(const std::filesystem::path& folder) {
  std::ifstream file(folder / journal::kHeadName, std::ios::binary);
  std::string bytes(journal::kHeadBytes, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  journal::Head head;
  std::memcpy(static_cast<void*>(&head), bytes.data(), sizeof head);
  std::uint64_t last = 0;
  for (const journal::Heartbeat& beat : head.heartbeats) last = std::max(last, beat.sample.ticks);
  return last;
}

}  // namespace

int main(int argc, char** argv) {
  using std::chrono::milliseconds;
  if (argc < 2) return 2;
  const auto journal = journal::Journal::open(argv[1], {});
  if (!journal.ok()) return std::cerr << journal.status().message() << '\n', 1;
  Recording recording({}, (*journal)->new_window());
  recording.start();
  const auto log = recording.add_thread(this_thread_identity());
  for (int step = 0; step < 9; ++step) range(*log, "aten::mm", milliseconds(100));
  write(*log, BeginRecord{.ticks = ticks(),
                          .name = log->names().find("train_step"),
                          .key = 2,
                          .scope = Scope::user});
  range(*log, "aten::add", milliseconds(1));
  write(*log, BeginRecord{.ticks = ticks(), .name = log->names().find("aten::conv2d"), .key = 3});
  std::this_thread::sleep_for(milliseconds(120));
  if (argc > 2) {
    std::cout << "recording" << std::endl;
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
  const std::uint64_t wanted = ticks();
  while (last_sign_of_life((*journal)->path()) < wanted) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  std::raise(SIGKILL);
}
