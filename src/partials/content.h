// What a Partial contains.
// Owns everything. Not synchronised; what only reads may run on any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/collectives.h>
#include <tbtrace/partial.h>
#include <tbtrace/report.h>

#include "base/string_pool.h"
#include "partials/stack_sums.h"
#include "partials/sum_table.h"
#include "partials/tables.h"

namespace tbtrace::partials {

/// A trace, and the reports that are of it alone.
struct SourceContent {
  SourceReport report;
  /// In the order of source_tables(); those at its end may be missing if the partial is from an
  /// older version. Empty without PartialParts::reports.
  std::vector<AnalysisReport> reports;
  /// With PartialParts::ranks. What PartialSource has too is only there.
  std::optional<RankRecord> rank = {};
};

/// Declared in a header whose names libtbtrace.so exports; its own are not for programs.
struct Content {
  [[gnu::visibility("hidden")]] explicit Content(const PartialOptions& its_options);

  SumTable& table(TableId id) { return tables[index(id)]; }
  const SumTable& table(TableId id) const { return tables[index(id)]; }
  std::string text(std::uint32_t number) const { return std::string(texts[number]); }

  /// Adds to the row of these texts.
  [[gnu::visibility("hidden")]] void add(TableId id, std::initializer_list<std::string_view> key,
                                         std::span<const Figure> figures,
                                         const report::DurationSketch& durations = {});
  /// Adds a single figure; how those of two sources become one is the fact's own matter.
  [[gnu::visibility("hidden")]] void add_fact(std::string_view name, FactFigure fold, Figure value);
  /// Unknown if no source has it.
  [[gnu::visibility("hidden")]] Figure fact(std::string_view name, FactFigure fold) const;

  /// The sum over all sources.
  [[gnu::visibility("hidden")]] SourceReport source_report() const;
  /// The rank, if all sources are of one.
  [[gnu::visibility("hidden")]] std::optional<std::int64_t> common_rank() const;

  PartialOptions options;
  StringPool texts;
  std::vector<PartialSource> sources;     // by digest
  std::vector<SourceContent> of_sources;  // in the same order
  std::vector<SumTable> tables;           // by TableId
  /// By which operators can be grouped so that it makes a difference; operator_tables.cc has the
  /// bits.
  unsigned operator_groupings = 0;
  StackSums stacks;
};

}  // namespace tbtrace::partials
