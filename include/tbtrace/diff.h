// What changed between recordings of a program: whether its step takes longer, and what explains
// it. Results own all their data; plain values that any number of threads may read. Times are
// nanoseconds. docs/compare.md says how figures are made and how a verdict is reached.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/arguments.h>
#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// By what the time of a step is divided. Each division has every instant of the step once.
enum class DiffBy : std::uint8_t {
  part,    ///< the roles of step_breakdown(): kernel, memcpy, ..., other
  op,      ///< the operator that ran, or that launched the work that ran
  shape,   ///< the same, with the shapes of its inputs
  kernel,  ///< what ran on the device; `[no device work]` is all other time
  module,  ///< the `nn.Module` that it came from
  line,    ///< the line of the program's own code that it came from
};
inline constexpr std::size_t kDiffBys = 6;

/// `part`, `operator`, `shape`, `kernel`, `module`, `line`.
std::string_view diff_by_name(DiffBy by);
std::optional<DiffBy> diff_by_named(std::string_view name);

/// What a row took in all steps of a run together.
struct RunRow {
  std::string key;      ///< `aten::mm`
  std::int64_t ns = 0;  ///< instants of steps that are its
  /// Operators and annotations that began in steps, or device work that was launched in steps.
  std::uint64_t count = 0;
  /// Of DiffBy::kernel: the operator that most of the time came from, and the shapes of its inputs.
  std::string op = {};
  std::string shapes = {};

  bool operator==(const RunRow&) const = default;
};

/// What else changes: per step, a mean of the ranks; of memory the highest of any rank.
inline constexpr std::array<std::string_view, 13> kDiffQuantities = {"gpu_busy_ns",
                                                                     "gpu_idle_ns",
                                                                     "gpu_idle_host_wait_ns",
                                                                     "gpu_idle_kernel_wait_ns",
                                                                     "gpu_idle_other_ns",
                                                                     "communication_ns",
                                                                     "exposed_communication_ns",
                                                                     "gpu_activities",
                                                                     "gpu_launches",
                                                                     "flops",
                                                                     "samples",
                                                                     "gpu_memory_peak_bytes",
                                                                     "cpu_memory_peak_bytes"};

struct RunQuantity {
  std::string_view name;  ///< `gpu_idle_ns`, of kDiffQuantities
  double value = 0;
};

/// Of a rank's steps of one kind: sums of all of them.
struct RunPhaseRank {
  std::int64_t rank = 0;  ///< or its place among the traces of the run
  std::string host = {};  ///< empty: not in the file
  std::uint64_t steps = 0;
  std::int64_t duration_ns = 0;
  std::int64_t gap_ns = 0;            ///< from the end of the step before, of any kind
  std::int64_t kernel_ns = 0;         ///< a kernel ran
  std::int64_t communication_ns = 0;  ///< exposed, with waiting for other ranks
  std::int64_t host_ns = 0;           ///< the steps' ranges on the host
  std::uint64_t launches = 0;         ///< calls that launched work
  std::int64_t launch_ns = 0;         ///< in these calls

  void add(const RunPhaseRank& more);

  bool operator==(const RunPhaseRank&) const = default;
};

/// The steps of an inference engine that do nearly the same work.
struct RunPhase {
  std::string key;                                 ///< `decode of 57 to 64 requests`
  std::vector<std::int64_t> step_ns;               ///< as in RunFigures
  std::array<std::vector<RunRow>, kDiffBys> rows;  ///< the same
  std::vector<RunPhaseRank> ranks;
};

/// What is kept of a run, which is one recording or those of all its ranks, to compare it.
struct RunFigures {
  std::string name;  ///< such as the path of the file
  std::size_t traces = 0;
  std::vector<std::string> devices;  ///< names of GPUs that worked, each once
  std::optional<std::int64_t> world_size;
  /// When its first recording began, in Unix time, if the files know it.
  std::optional<std::int64_t> start_ns = {};
  std::vector<std::string> options;  ///< `record_shapes`, ... that were on
  bool has_device_work = false;
  bool has_steps = false;   ///< otherwise its only step is the whole recording
  std::size_t damaged = 0;  ///< traces with data loss

  std::vector<std::int64_t> step_ns;               ///< durations, of all ranks one after the other
  std::array<std::vector<RunRow>, kDiffBys> rows;  ///< by DiffBy; by key
  std::vector<RunQuantity> quantities;
  /// Of an inference engine: those with the most time. Not in a baseline.
  std::vector<RunPhase> phases = {};
  /// Its smallest rows were left out, and their time is that of the row `[rest]`.
  bool is_reduced = false;

  /// The mean of its steps; 0 without steps.
  double mean_step_ns() const;
};

/// What RunSum reads.
ArgumentSet diff_arguments();

/// Makes the figures of a run from the recordings of its ranks, one after the other. One thread at
/// a time.
class RunSum {
 public:
  explicit RunSum(std::string name);
  RunSum(RunSum&&) noexcept;
  RunSum& operator=(RunSum&&) noexcept;
  ~RunSum();

  /// Fails if the trace was read without diff_arguments().
  Status add(const Trace& rank);

  RunFigures figures() const;

 private:
  struct Sums;
  std::unique_ptr<Sums> sums_;
};

/// Runs in a small file, to compare later ones with; `tbtrace.baseline/1`, compressed with gzip.
/// Rows are kept to 99 % of the time, or to less if the file would be larger than 100 KB; fails if
/// half of the time does not fit.
Result<std::string> baseline_bytes(std::span<const RunFigures> runs);
Status write_baseline(std::span<const RunFigures> runs, const std::string& path,
                      bool overwrite = false);
/// Fails unless the bytes are a whole baseline of this version.
Result<std::vector<RunFigures>> parse_baseline(std::string_view bytes);
Result<std::vector<RunFigures>> read_baseline(const std::string& path);
/// Whether a file is one, by how its content begins. Fails if it cannot be read.
Result<bool> is_baseline_file(const std::string& path);

enum class Comparable : std::uint8_t {
  yes,
  warning,  ///< something besides the program may explain the difference
  no,       ///< the recordings are of different things
};

/// `yes`, `warning`, `no`.
std::string_view comparable_name(Comparable comparable);

enum class DiffVerdict : std::uint8_t {
  slower,
  faster,
  same,          ///< no difference that matters
  inconclusive,  ///< the runs do not tell
};

/// `slower`, `faster`, `same`, `inconclusive`.
std::string_view diff_verdict_name(DiffVerdict verdict);

struct DiffOptions {
  double min_effect = 0.01;  ///< the smallest change that matters, as a share
  /// How much the mean step varies from run to run, as a share; nullopt: the runs show it.
  std::optional<double> run_noise = {};
};

/// The step of all runs of both sides.
struct StepChange {
  double base_ns = 0;  ///< mean of the runs' means
  double new_ns = 0;
  double change = 0;  ///< as a share of base_ns
  /// 99.7 % interval of the change of geometric means, if the runs allow one.
  std::optional<double> low = {};
  std::optional<double> high = {};
  /// The smallest slowdown that would be found with 90 % probability.
  std::optional<double> resolvable = {};
  /// Of one run a side with 30 steps or more: a 95 % interval that describes how their steps
  /// differ. It does not show how much runs differ.
  std::optional<double> steps_low = {};
  std::optional<double> steps_high = {};
  double base_median_ns = 0;  ///< of all steps
  double new_median_ns = 0;
};

/// Per step: means of the runs' means.
struct DiffRow {
  std::string key;
  double base_count = 0;
  double new_count = 0;
  double base_ns = 0;
  double new_ns = 0;
  double change_ns = 0;
  std::optional<double> low_ns = {};
  std::optional<double> high_ns = {};
  DiffVerdict verdict = DiffVerdict::inconclusive;
  /// Of the whole change; nullopt if that is 0.
  std::optional<double> share = {};
  /// How the two sides were found to be the same: `name`; of what torch.compile made also `fusion`:
  /// but for the number in its name it is the same, and each side has one such row; of kernels also
  /// `shape` or `operator`, if each side has one kernel without its like that came from that
  /// operator, with or without the same shapes, as often in a step. All but `name` are uncertain.
  /// Empty if it is on one side only.
  std::string_view matched_by = {};
  std::string base_key = {};  ///< the name on the side of the base, if it is another
  /// Of what torch.compile made: the operators that its name says are in it, as far as the other
  /// side has them.
  std::vector<std::string> fuses = {};
};

struct DiffQuantity {
  std::string_view name;
  std::optional<double> base_value = {};
  std::optional<double> new_value = {};
  /// Of times, if the runs allow one: the interval of the change, as a share.
  std::optional<double> low = {};
  std::optional<double> high = {};
};

/// Per step of one kind: means of the ranks and runs.
struct DiffPhaseSide {
  std::uint64_t steps = 0;
  double period_ns = 0;  ///< of a step and the gap before it
  double gap_ns = 0;
  double idle_ns = 0;  ///< of the step: no kernel ran
  double communication_ns = 0;
  double host_ns = 0;
  double launches = 0;
  double launch_ns = 0;  ///< of a call
};

/// Steps of an inference engine that do nearly the same work.
struct DiffPhase {
  std::string key;  ///< `decode of 57 to 64 requests`
  DiffPhaseSide base;
  DiffPhaseSide changed;
  std::optional<double> change_ns = {};  ///< of the period; nullopt: on one side only
  std::string sentence = {};             ///< why they take longer; empty if they do not
};

struct Diff {
  Comparable comparable = Comparable::yes;
  std::vector<std::string> reasons;  ///< why not, or with a warning: a sentence each
  /// Both sides are the same recordings, by all that is known of them: the verdict is `same`,
  /// without intervals, and limits are kept.
  bool is_same_recording = false;
  DiffVerdict verdict = DiffVerdict::inconclusive;
  std::string why;  ///< what the verdict rests on, a sentence for people
  /// What changed and what explains it; empty if the sides are not comparable or the same.
  std::string sentence;
  StepChange step;
  std::vector<std::string> base_names;  ///< of the runs
  std::vector<std::string> new_names;
  std::array<std::vector<DiffRow>, kDiffBys> rows;  ///< by DiffBy; the largest change first
  std::vector<DiffQuantity> quantities;
  /// What was done so that steps of the same work are compared; may be empty.
  std::string batches;
  std::vector<DiffPhase> phases = {};  ///< of inference engines; the largest change first
};

/// If batches of an inference engine differ, only steps of the same kind and size are compared,
/// each kind as often as in the base. Fails without runs on a side. Pure; the same bits on every
/// machine.
Result<Diff> diff(std::span<const RunFigures> base, std::span<const RunFigures> changed,
                  const DiffOptions& options = {});

/// A change that is too much: `step_time>+3%`, `operator:aten::mm>+10%`, `gpu_memory_peak>+5%`,
/// `gpu_launches>+0%`.
struct DiffLimit {
  std::string text;  ///< as it was written
  std::string what;  ///< `step_time`, a quantity without its unit, or a division and a key
  double share = 0;  ///< of the value of the base; more than that is too much
};

/// Fails with what is wrong with the text.
Result<DiffLimit> parse_diff_limit(std::string_view text);

enum class LimitVerdict : std::uint8_t { kept, exceeded, inconclusive };

/// `kept`, `exceeded`, `inconclusive`.
std::string_view limit_verdict_name(LimitVerdict verdict);

struct LimitResult {
  LimitVerdict verdict = LimitVerdict::inconclusive;
  std::string sentence;  ///< begins with the limit; with the figures, for people
};

/// Times are judged by their intervals: a limit is exceeded if the whole interval lies beyond it,
/// kept if none of it does. Counts and memory have no interval: the figures themselves are
/// compared. Inconclusive also for what neither side has.
LimitResult check_diff_limit(const Diff& diff, const DiffLimit& limit);

/// The rows of one division, with a column `by`; `tbtrace.diff/1`.
AnalysisReport diff_rows_report(const Diff& diff, DiffBy by);

/// By kind and batch, of inference engines.
AnalysisReport diff_phases_report(const Diff& diff);

/// What else changed, with columns `name`, `base`, `new`, `low` and `high`.
AnalysisReport diff_quantities_report(const Diff& diff);

/// What is written of a comparison.
struct DiffTextOptions {
  /// Empty: for people those that say something, for programs all.
  std::vector<DiffBy> by = {};
  TableFormat format = TableFormat::text;
  std::int64_t row_limit = -1;  ///< of each division; -1: all, but in Markdown 50
  std::size_t width = 0;        ///< as in ReportOptions, like the next two
  bool wide = false;
  std::string how_to_show_all_columns = {};
  std::vector<LimitResult> limits = {};  ///< shown to people below the verdict
};

/// The comparison in one of the four formats. JSON and CSV have all rows.
Result<std::string> diff_text(const Diff& diff, const DiffTextOptions& options = {});

/// What became of limits as JUnit XML, which CI systems show: a test case each, which failed if the
/// limit is exceeded, and is skipped if that is inconclusive.
std::string limits_junit(std::span<const LimitResult> limits);

}  // namespace tbtrace
