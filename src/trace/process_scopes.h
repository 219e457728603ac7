// Within which process an id counts. Correlations and External ids are numbers of one process; a
// file that holds several processes, such as the joined traces of a job's ranks, may hold each id
// several times. Made from a Trace, of which it keeps nothing. Immutable once devices were
// assigned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace {

class ProcessScopes {
 public:
  /// Processes whose operators, annotations or runtime calls have ids are scopes, numbered in the
  /// order of the file.
  explicit ProcessScopes(const Trace& trace);

  /// All ids of the file are of one process. Then every scope is 0.
  bool is_single() const { return count_ <= 1; }
  std::size_t count() const { return is_single() ? 1 : count_; }

  /// The process of a track; kUnknown for a device that nothing ties to one.
  static constexpr std::uint32_t kUnknown = 0xffffffff;
  std::uint32_t of(TrackId track) const { return is_single() ? 0 : scope_[index(track)]; }

  /// The process of a row in a Chrome trace is the device if it is work of one: which process used
  /// the device is found out by LaunchSearch.
  void assign(TrackId track, std::uint32_t scope) { scope_[index(track)] = scope; }

 private:
  std::size_t count_ = 0;
  std::vector<std::uint32_t> scope_;  // by track, where there are several
};

/// Whose External ids name the operator that work belongs to.
constexpr bool names_operators(EventKind kind) {
  return kind == EventKind::cpu_op || kind == EventKind::user_annotation;
}

/// Operators, annotations and calls of the runtime or driver: what a process does itself.
constexpr bool is_of_process(EventKind kind) {
  return names_operators(kind) || kind == EventKind::runtime;
}

}  // namespace tbtrace
