// A summary of kernels as the rows of `tbtrace.kernels/1`, wherever it comes from and in any
// definition.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/kernels.h>
#include <tbtrace/report.h>
#include <tbtrace/tables.h>

namespace tbtrace::analyses {

KernelsOptions kernels_options(const OptionValues& values);

/// `[blocks in x, in y, in z]`; nullopt without them.
std::optional<Json> sizes_of(const std::optional<Dim3>& sizes);

/// The columns of a table of kernels, each with what it shows of a group.
class KernelColumns {
 public:
  using Value = std::function<Cell(const KernelGroup&)>;

  /// `is_shown`: also in the text for people.
  void add(const std::string& name, bool is_shown, Value value);

  /// A row per group; without totals.
  AnalysisReport report(const std::vector<KernelGroup>& groups) &&;

 private:
  std::vector<std::string> names_;
  std::vector<std::string> shown_;
  std::vector<Value> values_;
};

/// The rank, and what the kernels of a group have in common.
void add_keys(KernelColumns& columns, std::optional<std::int64_t> rank,
              const KernelsOptions& options);

/// How many there are and how long they took; `all_ns`: all kernels together.
void add_times(KernelColumns& columns, std::int64_t all_ns);

AnalysisReport kernel_report_of(const KernelSummary& summary, const KernelsOptions& options,
                                std::optional<std::int64_t> rank, SourceReport source);

}  // namespace tbtrace::analyses
