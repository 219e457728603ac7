// The process within which an id is unique. Correlations and External ids are unique within a
// process; a file with several processes, such as the joined traces of a job's ranks, may contain
// each id several times. Made from a Trace, to which it keeps no reference. Immutable once devices
// are assigned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace {

class ProcessScopes {
 public:
  /// Each process whose operators, annotations or runtime calls have ids is a scope, numbered in
  /// file order.
  explicit ProcessScopes(const Trace& trace);

  /// Whether all ids in the file belong to one process. Then every scope is 0.
  bool is_single() const { return count_ <= 1; }
  std::size_t count() const { return is_single() ? 1 : count_; }

  /// The process of a track; kUnknown for a device that nothing connects to one.
  static constexpr std::uint32_t kUnknown = 0xffffffff;
  std::uint32_t of(TrackId track) const { return is_single() ? 0 : scope_[index(track)]; }

  /// In a Chrome trace, the process id of device work is the device. LaunchSearch finds out which
  /// process used the device.
  void assign(TrackId track, std::uint32_t scope) { scope_[index(track)] = scope; }

 private:
  std::size_t count_ = 0;
  std::vector<std::uint32_t> scope_;  // by track, if there are several
};

/// Kinds whose External ids identify the operator that work belongs to.
constexpr bool names_operators(EventKind kind) {
  return kind == EventKind::cpu_op || kind == EventKind::user_annotation;
}

/// Operators, annotations and runtime or driver calls: the process's own activity.
constexpr bool is_of_process(EventKind kind) {
  return names_operators(kind) || kind == EventKind::runtime;
}

}  // namespace tbtrace
