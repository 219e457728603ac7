// A part of a recording as a trace of its own, for tools that cannot open the whole.
// The file is read twice; memory is that of the model of its events, without their arguments.
// Blocks until the file is there. Any thread.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tbtrace/convert.h>
#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// What rows of a trace are, for slices.
enum class SliceKind : std::uint8_t {
  operators,
  annotations,  ///< with steps, also on devices
  frames,       ///< Python functions and modules
  calls,        ///< of the device's runtime and driver: launches, copies, waits
  kernels,      ///< with memcpys, memsets and all else on devices but annotations
  memory,       ///< allocations
  other,        ///< counters, instants, the profiler's own work, categories that torch lacks
};
inline constexpr std::size_t kSliceKinds = 7;

/// By SliceKind.
using SliceKinds = std::bitset<kSliceKinds>;
inline constexpr SliceKinds kAllSliceKinds = (1U << kSliceKinds) - 1;

/// As the option `--kinds` and the member `tbtrace_slice` of the file name it: `operators`.
std::string_view slice_kind_name(SliceKind kind);

/// From the start of the recording's window, in ns.
struct SliceTime {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  ///< exclusive
};

/// The step that took longest (StepTime::duration_ns()); of several, the first.
struct SliceSlowestStep {};

/// What is kept must satisfy all that is given.
struct SliceOptions {
  /// Host ranges that are open then, the device activities that they launched, and those that run
  /// then, with the calls and operators that launched them. Of steps it is from the start of the
  /// first one to the end of the last one, and on devices until their work has ended (StepTime).
  std::variant<std::monostate, StepRange, SliceSlowestStep, SliceTime> part = {};
  /// The widest part of what is chosen, around its median step or else its middle, whose file has
  /// at most so many bytes without compression; 0: no limit.
  std::uint64_t most_bytes = 0;
  /// Ids of threads of the host, as the file has them. A device activity is kept if the call that
  /// launched it is.
  std::set<std::string, std::less<>> threads = {};
  SliceKinds kinds = kAllSliceKinds;
  /// Host ranges of these names, what runs in them on their threads, and what that launched; and
  /// device activities of these names. Empty: all. Called once for each name, on the calling thread
  /// and before anything is written; what it throws ends the slicing.
  std::function<bool(std::string_view name)> accepts_name = {};
  std::string name_pattern = {};  ///< what `accepts_name` accepts, for the member `tbtrace_slice`
  bool overwrite = false;
  bool strict = false;      ///< treats any issue of the input as a failure
  int reading_threads = 0;  ///< 0: one per core
  /// Called now and then with the bytes of input read so far and their total, 0 if unknown, in the
  /// first of the two readings. If it returns false, slicing ends with StatusCode::cancelled.
  std::function<bool(std::uint64_t done, std::uint64_t total)> on_progress = {};
};

struct SliceReport {
  std::uint64_t events = 0;    ///< rows that were written
  std::uint64_t left_out = 0;  ///< rows that were not
  std::uint64_t cut = 0;       ///< of those written, ranges that were open at an end of the time
  std::optional<SliceTime> time = {};    ///< what was chosen; nullopt: all
  std::vector<std::int64_t> steps = {};  ///< numbers of the steps that are in it as a whole
  std::uint64_t bytes = 0;               ///< of these rows, without compression
  Changes changes = {};
  std::vector<Issue> issues = {};
};

/// Writes a part of the trace `path` (`-`: standard input) to `output` (`-`: standard output; gzip
/// if it ends in `.gz`), in Kineto's dialect. Host ranges that are open at an end of the time are
/// cut there and keep their own times in `uncut_ts` and `uncut_dur`; nothing else is changed that
/// convert_to_log_directory() would not change. Fails if nothing is left.
Result<SliceReport> slice_trace(const std::string& path, const std::string& output,
                                const SliceOptions& options = {});

}  // namespace tbtrace
