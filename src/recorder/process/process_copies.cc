#include "recorder/process/process_copies.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>

#include <sys/mman.h>
#include <unistd.h>

namespace tbtrace::recorder {

namespace {

/// A page that each copy maps under this name. Other copies see the name in /proc/self/maps,
/// whatever the copies' symbols are and however they were loaded.
constexpr const char* kName = "tbtrace_recorder";

struct Mark {
  std::uint64_t made_ns = 0;  // CLOCK_MONOTONIC
};

std::uint64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

/// Null if the system refuses.
const Mark* make_mark() {
  const int file = ::memfd_create(kName, MFD_CLOEXEC);
  if (file < 0) return nullptr;
  const Mark mark = {.made_ns = now_ns()};
  void* memory = MAP_FAILED;
  if (::write(file, &mark, sizeof mark) == static_cast<ssize_t>(sizeof mark)) {
    memory = ::mmap(nullptr, sizeof mark, PROT_READ, MAP_PRIVATE, file, 0);
  }
  ::close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<const Mark*>(memory);
}

/// The earlier one; of two with the same time, the one at the lower address.
bool is_before(const Mark* a, const Mark* b) {
  return a->made_ns != b->made_ns ? a->made_ns < b->made_ns : a < b;
}

struct CloseFile {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};

bool look() {
  const Mark* const ours = make_mark();
  if (ours == nullptr) return true;
  const std::unique_ptr<std::FILE, CloseFile> maps(std::fopen("/proc/self/maps", "re"));
  if (maps == nullptr) return true;
  char line[8192];
  while (std::fgets(line, sizeof line, maps.get()) != nullptr) {
    // `7f1c2a000000-7f1c2a001000 r--p 00000000 00:01 2071 /memfd:tbtrace_recorder (deleted)`
    if (std::strstr(line, "/memfd:tbtrace_recorder (deleted)\n") == nullptr) continue;
    std::uintptr_t address = 0;
    if (std::sscanf(line, "%lx-", &address) != 1) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the system says that it is mapped
    const auto* const mark = reinterpret_cast<const Mark*>(address);
    if (mark != ours && is_before(mark, ours)) return false;
  }
  return true;
}

}  // namespace

bool is_only_copy() {
  static const bool is_only = look();
  return is_only;
}

}  // namespace tbtrace::recorder
