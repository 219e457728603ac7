// How much memory each device had allocated over time, what held it at the peak, and how it grows.
// Results own all their data; plain values that any number of threads may read.
// Times are whole nanoseconds since Trace::base_time_ns(), sizes are bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/device.h>
#include <tbtrace/export.h>
#include <tbtrace/memory_category.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// What allocated memory, and what it is for. The texts are empty where the trace does not say.
struct MemorySource {
  std::string op = {};  ///< innermost operator open on the thread that allocated; `[unattributed]`
  std::string module = {};  ///< innermost `nn.Module` frame around it
  std::string line = {};    ///< innermost of the user's own code: `model.py(12): forward`
  /// Estimated from where the memory was allocated and freed; docs/formats/memory.md has the rules.
  MemoryCategory category = MemoryCategory::unknown;
};

/// How an allocation ended.
enum class AllocationEnd : std::uint8_t {
  freed,
  held,     ///< not freed in the recording
  unknown,  ///< its address was allocated again, or is not recorded
};

struct MemoryAllocation {
  std::size_t device = 0;                  ///< index in MemoryUse::devices
  std::optional<std::size_t> source = {};  ///< index in MemoryUse::sources; nullopt: from before
  std::int64_t bytes = 0;  ///< of the allocation; if it is from before, what was freed
  std::optional<std::int64_t> allocated_at_ns = {};  ///< nullopt: before the recording
  std::optional<std::int64_t> freed_at_ns = {};
  AllocationEnd end = AllocationEnd::held;
};

/// The state after one memory record.
struct MemoryPoint {
  std::int64_t at_ns = 0;
  std::int64_t allocated_bytes = 0;
  std::optional<std::int64_t> reserved_bytes;  ///< by the caching allocator, if it is recorded
};

/// Where the allocated bytes of a curve come from.
enum class MemoryTotals : std::uint8_t {
  recorded,  ///< every record has the allocator's total
  summed,    ///< no record has one: the sum of all sizes so far, from 0
  mixed,     ///< some have one; the others add their size to the total before
};

/// Memory that was alive at the peak, of one source.
struct MemoryHolder {
  MemorySource source;
  std::int64_t bytes = 0;
  std::uint64_t allocations = 0;
};

/// A device of a process. Allocations that failed are counted, and nothing else.
struct DeviceMemory {
  static constexpr const char* kBefore = "[before the recording]";
  static constexpr const char* kUnknown = "[unknown]";

  std::string process;  ///< id of the process that allocated
  std::string device;   ///< `cpu`, `cuda:0`
  MemoryTotals totals = MemoryTotals::recorded;
  std::vector<MemoryPoint> curve;  ///< one per record in the chosen time, by time

  // The first point with the most allocated bytes; 0 bytes and no time if there are no points. If
  // steps are chosen, what is allocated at their start counts, too.
  std::int64_t peak_bytes = 0;
  std::optional<std::int64_t> peak_at_ns;
  /// The most that the allocator had reserved, and what it had reserved in excess of the allocated
  /// bytes at the peak. nullopt if no record says that it had reserved any.
  std::optional<std::int64_t> peak_reserved_bytes;
  std::optional<std::int64_t> fragmentation_bytes;

  /// Median of the differences of allocated bytes between the ends of successive steps; nullopt
  /// with less than two steps.
  std::optional<std::int64_t> growth_per_step_bytes;
  std::vector<std::int64_t> step_end_bytes;  ///< allocated at the end of each step of the process
  /// And reserved; nullopt as in MemoryPoint, and before the first record.
  std::vector<std::optional<std::int64_t>> step_end_reserved_bytes;

  std::uint64_t out_of_memory = 0;

  /// What was allocated at the peak, largest first. The bytes add up to peak_bytes: `[before the
  /// recording]` is what the allocator's first total already contained and was not freed until
  /// then, `[unknown]` the rest, which may be negative.
  std::vector<MemoryHolder> alive;
};

struct MemoryUse {
  std::vector<DeviceMemory> devices;  ///< by process, type and index
  std::vector<MemorySource> sources;
  std::vector<MemoryAllocation> allocations;  ///< by time; those from before, by when they ended
  /// Records with a size but without an address, whose end is therefore unknown.
  std::uint64_t without_address = 0;
};

struct MemoryUseOptions {
  /// Only the time of these steps, from the start of the first to the end of the last, both widened
  /// as in step_breakdown(): the curve's points in it, peaks in it, the growth between the ends of
  /// its steps, and allocations that were held in any of it.
  std::optional<StepRange> steps = {};
};

/// Fails if `steps` names no step of the trace. Takes O(n log n) time for n events and records.
/// Needs ArgumentGroup::allocations for addresses and reserved bytes; `line` needs
/// those of kLineArguments but the inputs.
Result<MemoryUse> memory_use(const Trace& trace, const MemoryUseOptions& options = {});

/// Why `[unknown]` holds memory at a peak, a sentence or two. Empty if it holds none, or if `use`
/// does not tell why.
std::string unknown_memory_text(const MemoryUse& use);

enum class MemoryView : std::uint8_t {
  peak,         ///< one row per device
  alive,        ///< what was allocated at the peak of each device
  curve,        ///< one row per record
  allocations,  ///< one row per allocation
};

struct MemoryOptions {
  MemoryView view = MemoryView::peak;
  std::optional<StepRange> steps = {};  ///< as in MemoryUseOptions
};

/// Rows of `tbtrace.memory/1`, with times since the start of the trace's window. Fails as
/// memory_use(). compat.h has those of torch-tb-profiler.
Result<AnalysisReport> memory_report(const Trace& trace, const MemoryOptions& options = {});

}  // namespace tbtrace
