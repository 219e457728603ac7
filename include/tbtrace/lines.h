// What each line of source cost, or each function where the trace has no lines.
// Results own all their data; plain values that any number of threads may read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/arguments.h>
#include <tbtrace/export.h>
#include <tbtrace/modules.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// How exact the place of a row is.
enum class LineLevel : std::uint8_t {
  line,      ///< the line that was running
  function,  ///< a function; `line` is where it begins
};

/// `line`, `function`.
const char* line_level_name(LineLevel level);

/// A line with what ran while it did. Totals include what it called, and the backward passes of
/// its operators; a line that called itself again counts once. `self_`: in no other known line.
struct LineRow : ModuleCost {
  std::string file;
  std::int64_t line = 0;
  std::string function;
  LineLevel level = LineLevel::function;
  std::uint64_t calls = 0;  ///< of a function; of a line 0, because the trace does not say
};

struct LineTable {
  /// Those with the most device time first, then by CPU time, both without what they called.
  std::vector<LineRow> lines;
  /// What no line did. With `communication` and the `self_` figures of all lines it is `total`.
  ModuleCost unattributed;
  /// Collectives that hooks began when gradients were ready, such as those of
  /// DistributedDataParallel: they are of no row.
  ModuleCost communication;
  ModuleCost total;
  /// CPU time in which threads that do not do the steps waited; in no row and not in `total`.
  std::int64_t waiting_ns = 0;
  bool has_shapes = false;  ///< the sizes of operators were recorded; without, `macs` is unknown
};

/// What a line allocated and freed on a device.
struct LineBytes {
  std::int64_t allocated_bytes = 0;
  std::int64_t freed_bytes = 0;          ///< also what other lines had allocated
  std::int64_t alive_at_peak_bytes = 0;  ///< of what it allocated, at the peak of the device

  std::int64_t net_bytes() const;  ///< allocated less freed

  bool operator==(const LineBytes&) const = default;
};

/// A line that allocated or freed memory of a device, itself or in what it called.
struct LineMemoryRow {
  std::string file;
  std::int64_t line = 0;
  std::string function;
  LineLevel level = LineLevel::function;
  LineBytes total;  ///< with what it called, and the backward passes of its operators
  LineBytes self;   ///< in no other known line
  /// The most that the device had allocated, by anyone, while a range of the line was open.
  std::int64_t peak_bytes = 0;
  /// Median of the growth, between the ends of successive steps, of what the line itself allocated
  /// and nobody freed; nullopt with less than two steps. Of a leak its size in a step.
  std::optional<std::int64_t> self_growth_per_step_bytes;
};

/// The lines of a device of a process.
struct DeviceLineMemory {
  std::string process;
  std::string device;  ///< `cpu`, `cuda:0`
  bool is_host = false;
  /// Those that held most at the peak themselves first, then those that allocated most.
  std::vector<LineMemoryRow> lines;
  LineBytes unattributed;  ///< what no line did; with `self` of all lines it is `total`
  /// All that was allocated and freed. Of `peak_bytes`, what recorded allocations held.
  LineBytes total;
  std::int64_t peak_bytes = 0;     ///< as DeviceMemory has it, like the next two
  std::int64_t before_bytes = 0;   ///< of the peak: from before the recording
  std::int64_t unknown_bytes = 0;  ///< the rest of the peak, which may be negative
};

struct LineMemory {
  std::vector<DeviceLineMemory> devices;  ///< by process, type and index
  std::uint64_t without_address = 0;      ///< as in MemoryUse
};

/// What the rows of lines_report() are.
enum class LineView : std::uint8_t {
  cost,    ///< lines with their times, sizes and operations
  memory,  ///< lines and devices, with what was allocated, freed and held at the peak
};

struct LinesOptions {
  LineView view = LineView::cost;
  /// Only what started in these steps, and was launched in them.
  std::optional<StepRange> steps = {};
  /// Whether the files of libraries have rows: torch, Python's own, installed packages. Without,
  /// what they did is done by the lines that called them. The package that the program was started
  /// as (`python -m vllm...`) is not a library.
  bool libraries = false;
};

/// The arguments that line_table() reads.
inline constexpr ArgumentSet kLineArguments = {ArgumentGroup::autograd, ArgumentGroup::inputs,
                                               ArgumentGroup::call_stacks, ArgumentGroup::python};

/// Lines are those in the call stacks of operators (`Call stack`: TorchScript, torch up to 1.12,
/// C++ programs) and those that a Python frame was called from (`CallFrom`). Where Python frames
/// are ranges without it, they are functions. Fails if `steps` names no step of the trace. Takes
/// O(n log n) time and O(n) memory.
Result<LineTable> line_table(const Trace& trace, const LinesOptions& options = {});

/// Who allocated and freed the memory of each device; the lines are those of line_table(). Without
/// records of memory there is no device. If steps are chosen, only what their ranges did counts,
/// and peaks are in their time. Needs ArgumentGroup::allocations for addresses.
Result<LineMemory> line_memory(const Trace& trace, const LinesOptions& options = {});

/// The same as rows of `tbtrace.lines/1`, with a last row `[unattributed]`.
Result<AnalysisReport> lines_report(const Trace& trace, const LinesOptions& options = {});

}  // namespace tbtrace
