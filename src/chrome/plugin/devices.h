// Device numbers as the plugin needs them: positions in the list `deviceProperties`, below 64.
// Made from a Trace; owns its data. Immutable.
// Numbers in the list are kept. ROCm also counts CPUs as devices: numbers that are not in the list
// are assigned to its unused devices, in order, and after that to new ones at its end.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <tbtrace/trace.h>

namespace tbtrace::chrome {

class Devices {
 public:
  explicit Devices(const Trace& trace);

  /// The number to write for the process of a device's track. torch.autograd.profiler wrote the
  /// device in place of the stream.
  std::int64_t number(const Track& track) const;
  /// The same for a memory record.
  std::int64_t memory_number(std::int64_t device_id) const;

  /// The list as spaced JSON; empty if the file has none, or an invalid one.
  const std::string& properties() const { return properties_; }
  std::uint64_t renumbered() const { return renumbered_; }

 private:
  using Listed = std::map<std::int64_t, std::string>;      // number -> properties, as JSON
  using TextKey = std::pair<std::uint32_t, std::int64_t>;  // process, stream
  struct Used {
    std::set<std::int64_t> numbers;
    std::set<TextKey> texts;
  };

  static TextKey text_key(const Track& track) {
    return {static_cast<std::uint32_t>(track.process.text), track.thread.number};
  }
  static Used used_devices(const Trace& trace);
  static Listed listed_devices(const Trace& trace);
  void number_devices(const Used& used, const Listed& listed);
  void number_memory(const Trace& trace, const Listed& listed);
  std::int64_t take_number(std::int64_t wanted, const Listed& listed);
  void list_devices(const Trace& trace, const Listed& listed);

  std::map<std::int64_t, std::int64_t> numbers_;
  std::map<TextKey, std::int64_t> text_numbers_;
  std::set<std::int64_t> taken_;  // numbers in use
  std::string properties_;
  std::uint64_t renumbered_ = 0;
};

}  // namespace tbtrace::chrome
