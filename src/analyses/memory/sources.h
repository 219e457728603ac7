// Which operator, module and line allocated memory, and what it may be for.
// Made from a Trace, which must outlive it. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <tbtrace/analysis_context.h>
#include <tbtrace/memory.h>
#include <tbtrace/trace.h>

#include "analyses/attribution/own_lines.h"
#include "base/column.h"

namespace tbtrace::analyses {

class MemorySources {
 public:
  explicit MemorySources(const Trace& trace);

  /// The number of the source of an allocation, by its record and by the one that freed it.
  std::size_t number(std::size_t allocated, std::optional<std::size_t> freed, AllocationEnd end);

  const std::vector<MemorySource>& known() const { return sources_; }

  /// All sources that have a number.
  std::vector<MemorySource> take() { return std::move(sources_); }

 private:
  /// What a thread was doing, as far as the names of its open ranges say.
  enum class Phase : std::uint8_t { other, backward, accumulate, optimizer, loading };
  using Process = std::pair<std::int64_t, StringId>;

  void find_phases();
  void find_first_steps();
  Phase phase_named(EventId event) const;
  Phase phase(std::size_t record) const;
  Process process_of(TrackId track) const;
  bool backward_began(std::size_t allocated, std::size_t freed) const;
  MemoryCategory category(std::size_t allocated, std::optional<std::size_t> freed,
                          AllocationEnd end) const;

  const Trace& trace_;
  AnalysisContext context_;
  std::vector<EventId> owners_;  // by record: the innermost range that was open
  Column<Phase> phases_;         // by event
  OwnLines lines_;
  std::map<Process, std::vector<std::int64_t>> backward_starts_;  // sorted
  std::map<Process, std::int64_t> first_step_;
  std::map<std::tuple<std::string_view, std::string_view, OwnLines::Line, MemoryCategory>,
           std::size_t>
      numbers_;
  std::vector<MemorySource> sources_;
};

}  // namespace tbtrace::analyses
