// The page of a comparison: what changed between recordings, what explains it, and by which call
// paths. The document that it draws is described in docs/formats/comparison.md. Pure functions;
// results own all their data.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <tbtrace/diff.h>
#include <tbtrace/export.h>
#include <tbtrace/flame_difference.h>
#include <tbtrace/status.h>

namespace TBTRACE_EXPORT tbtrace {

/// How much of a comparison a document has at most. What is left out is counted in it.
struct ComparisonLimits {
  std::size_t rows = 2000;       ///< of each division: those with the largest changes
  std::size_t frames = 50'000;   ///< of each flame graph: the widest ones
  std::size_t characters = 500;  ///< of each text
};

/// `tbtrace.comparison/1`. `base`, `changed`: the stacks of the runs of both sides, as many as the
/// comparison has runs; otherwise there are no flame graphs, and the document says so.
Result<std::string> comparison_document(const Diff& diff, std::span<const RunStacks> base,
                                        std::span<const RunStacks> changed,
                                        const ComparisonLimits& limits = {});

struct ComparePageOptions {
  std::string title = {};  ///< empty: the names of the runs
  /// Of the page. Rows and frames are left out to keep it, and counted in it; fails if 50 rows of
  /// each division and 300 frames are too much.
  std::size_t bytes = 2'000'000;
};

/// One HTML page, which is complete in itself: it needs no network, no other file, and runs from
/// `file://`.
Result<std::string> compare_page(const Diff& diff, std::span<const RunStacks> base,
                                 std::span<const RunStacks> changed,
                                 const ComparePageOptions& options = {});

}  // namespace tbtrace
