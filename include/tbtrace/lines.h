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

struct LinesOptions {
  /// Only what started in these steps, and was launched in them.
  std::optional<StepRange> steps = {};
  /// Whether the files of libraries have rows: torch, Python's own, installed packages. Without,
  /// what they did is done by the lines that called them. The package that the program was started
  /// as (`python -m vllm...`) is not a library.
  bool libraries = true;
};

/// The arguments that line_table() reads.
inline constexpr ArgumentSet kLineArguments = {ArgumentGroup::autograd, ArgumentGroup::inputs,
                                               ArgumentGroup::call_stacks, ArgumentGroup::python};

/// Lines are those in the call stacks of operators (`Call stack`: TorchScript, torch up to 1.12,
/// C++ programs) and those that a Python frame was called from (`CallFrom`). Where Python frames
/// are ranges without it, they are functions. Fails if `steps` names no step of the trace. Takes
/// O(n log n) time and O(n) memory.
Result<LineTable> line_table(const Trace& trace, const LinesOptions& options = {});

/// The same as rows of `tbtrace.lines/1`, with a last row `[unattributed]`.
Result<AnalysisReport> lines_report(const Trace& trace, const LinesOptions& options = {});

}  // namespace tbtrace
