#include "recorder/journal/signs_of_life.h"

#include <fstream>

#include "recorder/journal/checksums.h"

namespace tbtrace::recorder::journal {

std::string boot_id() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
  return id;
}

bool is_boot_of_this_machine(const Head& head) {
  const std::string now = boot_id();
  return !now.empty() && text_of(head.boot) == now;
}

ClockSample last_heartbeat(const Head& head) {
  const Heartbeat* last = nullptr;
  for (const Heartbeat& beat : head.heartbeats) {
    if (beat.number == 0 || beat.checksum != checksum_of(beat)) continue;
    if (last == nullptr || beat.number > last->number) last = &beat;
  }
  return last == nullptr ? head.first_sample : last->sample;
}

ClockSample sample_at(std::uint64_t ticks, const ClockSample& first, const ClockSample& last) {
  if (last.ticks <= first.ticks || ticks <= last.ticks) return last;
  const long double rate = static_cast<long double>(last.steady_ns - first.steady_ns) /
                           static_cast<long double>(last.ticks - first.ticks);
  const auto more = static_cast<std::int64_t>(static_cast<long double>(ticks - last.ticks) * rate);
  return {.ticks = ticks, .steady_ns = last.steady_ns + more, .unix_ns = last.unix_ns + more};
}

}  // namespace tbtrace::recorder::journal
