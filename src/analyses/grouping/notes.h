// Why rows have no value of what they are grouped by.
// Made from a Trace, which must outlive it. Not synchronised.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/group_keys.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

class MissingKeys {
 public:
  MissingKeys(const Trace& trace, GroupKeySet keys) : trace_(trace), keys_(keys) {}

  /// To be called for the values of each event.
  void count(const GroupValues& values);

  /// A sentence for each key that some events have no value of. `what`: `kernels`.
  std::vector<std::string> notes(std::string_view what) const;

 private:
  std::string reason(GroupKey key) const;

  const Trace& trace_;
  const GroupKeySet keys_;
  std::uint64_t events_ = 0;
  std::array<std::uint64_t, kGroupKeys> without_ = {};
};

}  // namespace tbtrace::analyses
