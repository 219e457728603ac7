// The tables of a trace in a form that adds up: one trace gives a small partial, and the partials
// of the ranks of a job give the tables of the job, without reading a trace again. A Partial owns
// all its data. Any number of threads may read one while none changes it. Figures are exact.
// Partials may be merged in any order and in any tree: the result is the same to the byte.
// docs/formats/partial.md has the format of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/arguments.h>
#include <tbtrace/checks.h>
#include <tbtrace/collectives.h>
#include <tbtrace/export.h>
#include <tbtrace/flame_graph.h>
#include <tbtrace/gpu.h>
#include <tbtrace/kernels.h>
#include <tbtrace/lines.h>
#include <tbtrace/memory.h>
#include <tbtrace/modules.h>
#include <tbtrace/operators.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/summary.h>
#include <tbtrace/tables.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

namespace partials {
struct Content;
}

/// What a partial has. Partials of different parts cannot be merged.
struct PartialParts {
  bool operators = true;
  bool kernels = true;
  bool modules = true;
  bool lines = true;
  bool stacks = true;
  bool reports = true;  ///< steps, GPU use and memory, each by trace
  bool ranks = true;    ///< what ranks are compared by: collectives and their steps

  bool operator==(const PartialParts&) const = default;
};

struct PartialOptions {
  /// Frames of the stacks that operators are grouped by, besides not at all.
  int group_by_stack_n = 5;
  StackSource stack_source = StackSource::either;
  PartialParts parts = {};

  bool operator==(const PartialOptions&) const = default;
};

/// A trace that a partial contains.
struct PartialSource {
  /// 32 hexadecimal digits, of the content as it was read: the same for a file and for the same
  /// file compressed.
  std::string digest;
  std::string name;  ///< such as the path of the file
  std::optional<std::int64_t> rank;
  std::string host;
  std::string process;
  // What follows is unknown or empty also if a partial is of an older version.
  std::optional<std::int64_t> world_size = {};
  std::string backend = {};                          ///< `nccl`
  std::optional<std::int64_t> start_ns = {};         ///< of the earliest range, since 1970
  std::optional<std::int64_t> base_time_ns = {};     ///< `baseTimeNanoseconds`
  std::map<std::string, std::string> versions = {};  ///< by what has them: `NCCL`, `CUDA`
  std::optional<std::uint64_t> events = {};
};

/// Only what a table is made from that partials have.
PartialParts parts_for(const TableDescription& table);

/// The arguments that a partial of these parts is made from.
ArgumentSet partial_arguments(const PartialParts& parts = {});

class Partial {
 public:
  /// `name`: of the source. Fails if the trace was read without partial_arguments(). Takes O(n log
  /// n) time.
  static Result<Partial> of(const Trace& trace, std::string name,
                            const PartialOptions& options = {});

  Partial(Partial&&) noexcept;
  Partial& operator=(Partial&&) noexcept;
  ~Partial();

  Partial copy() const;

  /// Gives the source another name, for a partial made of a copy. Fails unless it has one source.
  Status rename(std::string name);

  /// Adds another partial. Fails, and changes nothing, if the options differ, or if a trace is in
  /// both.
  Status merge(const Partial& other);

  const PartialOptions& options() const&;
  const PartialOptions& options() const&& = delete;
  /// By digest.
  std::span<const PartialSource> sources() const&;
  std::span<const PartialSource> sources() const&& = delete;

  const partials::Content& content() const { return *content_; }
  explicit Partial(std::unique_ptr<partials::Content> content);

 private:
  friend Result<std::vector<RankRecord>> take_rank_records(Partial partial);

  std::unique_ptr<partials::Content> content_;
};

/// The bytes of a file before it is compressed. Fails if this build has no protobuf.
Result<std::string> partial_bytes(const Partial& partial);
/// Fails for bytes that are not a whole, undamaged partial of this or an older version.
Result<Partial> parse_partial(std::string_view bytes);
/// Whether a content begins as a partial does, of any version.
bool begins_as_partial(std::string_view start);
/// The same of a file, compressed or not. Fails if it cannot be read.
Result<bool> is_partial_file(const std::string& path);

/// A file, compressed or not; `-` is standard input.
Result<Partial> read_partial(const std::string& path);
/// Compressed with gzip. The file appears by rename. `-` is standard output.
Status write_partial(const Partial& partial, const std::string& path, bool overwrite = false);

/// Fails for figures of torch and of other tools, which do not add up.
Status check_partial_figures(Figures figures);

// The tables of all sources together. Each fails for options that a partial cannot answer: single
// steps, what its PartialOptions left out. Where a table has a column `rank`, it has a value if all
// sources are of one rank.

/// In exact figures.
Result<OperatorSummary> operator_summary(const Partial& partial,
                                         const SummaryOptions& options = {});
/// Not by device or stream.
Result<AnalysisReport> kernels_report(const Partial& partial, const KernelsOptions& options = {});
Result<AnalysisReport> modules_report(const Partial& partial, const ModulesOptions& options = {});
Result<AnalysisReport> lines_report(const Partial& partial, const LinesOptions& options = {});
Result<StackTree> flame_graph(const Partial& partial, const FlameGraphOptions& options = {});

/// Any of them. Fails also for a table that partials do not have.
Result<AnalysisReport> make_table(const TableDescription& table, const Partial& partial,
                                  const OptionValues& options = {});

// The rows of each source, by rank and name; of several sources with a first column `input`.

Result<AnalysisReport> steps_report(const Partial& partial);
Result<AnalysisReport> gpu_report(const Partial& partial, const GpuOptions& options = {});
/// MemoryView::peak and MemoryView::alive.
Result<AnalysisReport> memory_report(const Partial& partial, const MemoryOptions& options = {});

/// What `flops` says of each source, with the peaks of the table of devices.
Result<AnalysisReport> flops_report(const Partial& partial);

// The findings of checks (checks.h): of each source, by rank and name, and of all together, whose
// input is empty. Each fails if the partial was made without reports, or by an older version.

Result<AnalysisReport> checks_report(const Partial& partial);
Result<std::vector<CheckedInput>> checked_inputs(const Partial& partial);
/// For job_checks(). Fails if the partial was made without ranks.
Result<std::vector<CheckedTrace>> checked_traces(const Partial& partial);

// The sources as the ranks of a job, for analyse_job() (job_analysis.h). A source has at most 2,000
// collectives, those with the lowest hashes (RankRecording); its steps are always whole. Each fails
// if the partial was made without ranks, or by an older version.

Result<std::vector<RankRecord>> rank_records(const Partial& partial);
/// The same without a copy: the partial has none afterwards.
Result<std::vector<RankRecord>> take_rank_records(Partial partial);

/// What is known of each source's first page (TraceSummary::is_of_partial), by rank and name; empty
/// if the partial was made without ranks.
std::vector<TraceSummary> partial_summaries(const Partial& partial);

}  // namespace tbtrace
