// A torch.profiler recording in memory: what ran when and where, read from a file.
// A Trace owns all its data; views and ids are valid as long as it lives, and for it alone.
// Immutable: any number of threads may read one. Reading never throws because of a file's content.
// Damage in the input is counted in issues(); only an input that is not a trace at all is a
// failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/arguments.h>
#include <tbtrace/device.h>
#include <tbtrace/export.h>
#include <tbtrace/status.h>

namespace TBTRACE_EXPORT tbtrace {

// Ids do not convert into each other or into numbers implicitly; index() gives the row.
enum class TrackId : std::uint32_t {};
enum class CategoryId : std::uint16_t {};

template <typename Id>
constexpr std::size_t index(Id id) {
  return static_cast<std::size_t>(id);
}

/// What an event is, however its writer spells the category.
enum class EventKind : std::uint8_t {
  cpu_op,           ///< an operator; also ranges without a category
  user_annotation,  ///< record_function, ProfilerStep#N
  python_function,  ///< a Python frame or module
  runtime,          ///< a device runtime or driver API call, such as cudaLaunchKernel
  other,            ///< a range of a category that torch does not write
  overhead,         ///< the profiler's own work
  kernel,
  gpu_memcpy,
  gpu_memset,
  device_other,         ///< stream waits, counters and the like on a device
  gpu_user_annotation,  ///< an annotation's range on a device
  trace_span,           ///< the window of the recording
};

/// `cpu_op`, `gpu_memcpy`, ...
std::string_view event_kind_name(EventKind kind);

/// Kernels, memcpys and memsets. Annotations on devices and waits are not device work.
constexpr bool is_device_work(EventKind kind) {
  return kind >= EventKind::kernel && kind <= EventKind::gpu_memset;
}

/// A range on a host thread that belongs in its call tree.
constexpr bool is_host_range(EventKind kind) { return kind <= EventKind::other; }

/// The writer's category and its meaning.
struct Category {
  StringId name = StringId::empty;
  EventKind kind = EventKind::other;
  DeviceType device = DeviceType::cpu;  ///< where its events ran; launches run on the CPU
};

/// A process or thread id: a number, or text such as `stream 7` (then `number` is 0).
struct TrackKey {
  std::int64_t number = 0;
  StringId text = StringId::empty;
  bool is_unsigned = false;  ///< the file's number is from 2^63 to 2^64-1; `number` has its bits

  /// The number as the file has it, in its shortest form.
  std::string number_text() const {
    return is_unsigned ? std::to_string(static_cast<std::uint64_t>(number))
                       : std::to_string(number);
  }

  bool operator==(const TrackKey&) const = default;
};

/// A thread of a process, or a stream of a device.
struct Track {
  TrackKey process;
  TrackKey thread;
  StringId process_name = StringId::empty;
  StringId thread_name = StringId::empty;
  /// Of a device's track: the device's number, if only a name says it (`GPU0`); otherwise -1.
  std::int64_t device = -1;
};

/// The number of the device that a track of device activities belongs to: the one in its names,
/// else its process id. torch.autograd.profiler wrote a single process whose id is text, and the
/// device in place of the stream.
inline std::int64_t device_number(const Track& track) {
  if (track.device >= 0) return track.device;
  return track.process.text == StringId::empty ? track.process.number : track.thread.number;
}

/// A memory allocation or deallocation, from a `[memory]` or `[OutOfMemory]` row.
struct MemoryRecord {
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;                   ///< negative: freed
  std::int64_t total_allocated_bytes = -1;  ///< on the device afterwards; -1: not in the file
  TrackId track = {};                       ///< the thread that allocated or freed
  std::uint32_t event_rank = 0;             ///< `Ev Idx` + 1, 0 if there is none
  DeviceType device_type = DeviceType::cpu;
  std::int16_t device_id = -1;
  bool out_of_memory = false;
};

/// One end of a flow event between two events.
struct FlowEnd {
  enum class Type : std::uint8_t { forward_backward, launch, other };

  std::int64_t id = 0;
  std::int64_t time_ns = 0;
  TrackId track = {};
  Type type = Type::other;
  bool start = false;
};

/// A `ProfilerStep#N` range on the host, or an iteration of an inference engine.
struct Step {
  std::int64_t number = 0;
  EventId event = EventId::none;
};

/// Where a recording was made, as far as the file contains it.
struct TraceIdentity {
  std::optional<std::int64_t> rank;        ///< from `distributedInfo`
  std::optional<std::int64_t> world_size;  ///< from `distributedInfo`
  std::string host;                        ///< from `host_name`, without quotes and escapes
  std::string process;                     ///< of the first range on the host
  /// The window in nanoseconds since 1970, if the file's clock counts from there.
  std::optional<std::int64_t> start_ns = {};
  std::optional<std::int64_t> end_ns = {};
};

/// A device that the file lists in `deviceProperties`.
struct DeviceProperties {
  std::int64_t id = 0;  ///< the process id of its streams; its place in the list if it has none
  std::string name;     ///< `Tesla V100-SXM2-32GB`
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::int64_t> compute_major;  ///< of the compute capability, or of ROCm's version
  std::optional<std::int64_t> compute_minor;
  std::optional<std::int64_t> multiprocessors;
  std::optional<std::int64_t> max_threads_per_block = {};
  std::optional<std::int64_t> max_threads_per_multiprocessor = {};
  std::optional<std::int64_t> registers_per_block = {};
  std::optional<std::int64_t> registers_per_multiprocessor = {};
  std::optional<std::int64_t> warp_size = {};
  std::optional<std::int64_t> shared_bytes_per_block = {};
  std::optional<std::int64_t> shared_bytes_per_block_optin = {};  ///< for kernels that ask for it
  std::optional<std::int64_t> shared_bytes_per_multiprocessor = {};
};

enum class Severity : std::uint8_t { info, data_loss };

/// A kind of problem in the input: how often it was found, and where first.
struct Issue {
  std::string_view id;  ///< stable, `input_truncated`
  Severity severity = Severity::info;
  std::string_view sentence;  ///< cause and remedy
  std::uint64_t count = 0;
  std::vector<std::uint64_t> offsets;  ///< of the first few, in bytes of the uncompressed text
};

/// A kernel, memcpy or memset with the runtime call that launched it and with its operator, or the
/// annotation if no operator is known; EventId::none if unknown. LinkReport has the rules.
struct DeviceLink {
  EventId activity = EventId::none;
  EventId launch = EventId::none;
  EventId op = EventId::none;
};

/// Which rules linked the device work (kernels, memcpys, memsets) to what launched it.
struct LinkReport {
  /// Whether the `External id` of launches and work identifies operators. Files of 2022 to 2024
  /// repeat the `correlation` there; then it is not used.
  bool external_ids_valid = true;

  // Work -> launch. The three add up to all work.
  std::uint64_t launch_by_correlation = 0;
  std::uint64_t launch_by_flow = 0;
  std::uint64_t launch_unknown = 0;

  // Work -> operator. The four add up to all work.
  std::uint64_t operator_by_flow = 0;  ///< a flow event leads from the operator itself to the work
  std::uint64_t operator_by_external_id = 0;
  std::uint64_t operator_by_containment = 0;
  std::uint64_t operator_unknown = 0;

  /// Number of operators with the same `External id` that get its device work in torch's figures.
  static constexpr std::size_t kMostOperators = 64;
  /// Work whose id belongs to more operators than that: the operators after the limit do not get
  /// it.
  std::uint64_t work_over_operator_limit = 0;

  // Sums of durations in ns. The two add up to the time of all work.
  std::int64_t linked_ns = 0;    ///< work whose operator, or at least whose launch, is known
  std::int64_t unlinked_ns = 0;  ///< work that nothing in the file launched
};

struct DerivedOfTrace;
class TraceBuilder;
struct TraceData;

/// The ranges of a trace (`ph` X, or B with its E), one row each, in file order.
class Events {
 public:
  std::size_t size() const { return start_ns_.size(); }

  /// Nanoseconds since Trace::base_time_ns().
  std::int64_t start_ns(EventId event) const { return start_ns_[index(event)]; }
  std::int64_t duration_ns(EventId event) const { return duration_ns_[index(event)]; }
  std::int64_t end_ns(EventId event) const { return start_ns(event) + duration_ns(event); }
  /// The same of all events, in file order.
  std::span<const std::int64_t> starts_ns() const { return start_ns_; }
  std::span<const std::int64_t> durations_ns() const { return duration_ns_; }
  StringId name(EventId event) const { return name_[index(event)]; }
  TrackId track(EventId event) const { return track_[index(event)]; }
  CategoryId category(EventId event) const { return category_[index(event)]; }

  /// Was still open when the recording stopped (marked `finished`: false).
  bool unfinished(EventId event) const { return (flags_[index(event)] & kUnfinished) != 0; }
  /// A Python frame; the garbage collector's rows share the category but are not frames.
  bool is_python_frame(EventId event) const { return (flags_[index(event)] & kPythonFrame) != 0; }
  bool is_module(EventId event) const { return (flags_[index(event)] & kModule) != 0; }
  /// Has an `External id` of 0, which tools distinguish from having none.
  bool has_zero_external_id(EventId event) const {
    return (flags_[index(event)] & kZeroExternalId) != 0;
  }

  /// Recorded as a range that may end on another thread, by a writer that marks such ranges.
  bool is_asynchronous(EventId event) const { return (flags_[index(event)] & kAsynchronous) != 0; }

  static constexpr std::uint8_t kUnfinished = 1;
  static constexpr std::uint8_t kPythonFrame = 2;
  static constexpr std::uint8_t kModule = 4;
  static constexpr std::uint8_t kZeroExternalId = 8;
  static constexpr std::uint8_t kAsynchronous = 16;
  static constexpr std::uint8_t kBegun =
      32;  ///< its end is a separate row; not in a finished Trace

 private:
  friend class Trace;
  std::span<const std::int64_t> start_ns_;
  std::span<const std::int64_t> duration_ns_;
  std::span<const StringId> name_;
  std::span<const TrackId> track_;
  std::span<const CategoryId> category_;
  std::span<const std::uint8_t> flags_;
};

class Trace {
 public:
  Trace(Trace&&) noexcept;
  Trace& operator=(Trace&&) noexcept;
  ~Trace();

  const Events& events() const& { return events_; }
  std::string_view string(StringId id) const&;
  std::string_view name(EventId event) const& { return string(events_.name(event)); }
  const Category& category(EventId event) const& {
    return categories_[index(events_.category(event))];
  }
  EventKind kind(EventId event) const { return category(event).kind; }
  const Track& track(TrackId id) const& { return tracks_[index(id)]; }

  std::span<const Track> tracks() const& { return tracks_; }
  std::span<const Category> categories() const& { return categories_; }
  std::span<const MemoryRecord> memory() const&;
  std::span<const FlowEnd> flows() const&;

  /// The values of an argument by event. Empty if the file has none, if it was not requested, or if
  /// it is in ArgumentGroup::row: those are in the rows (external_id(), correlation(), Events).
  const ArgumentColumn& argument(Argument argument) const&;
  /// The same for ArgumentGroup::allocations, by index in memory().
  const ArgumentColumn& memory_argument(Argument argument) const&;
  /// The text of an argument of an event, empty if it has none.
  std::string_view argument_text(EventId event, Argument which) const& {
    return string(argument(which).text(event));
  }
  /// `ProfilerStep#N` ranges, else iterations of an inference engine on one thread, by start.
  std::span<const Step> steps() const&;

  /// All events by start; with equal starts, profiler events by `Ev Idx`, then the others in file
  /// order. torch itself walks its events in this order.
  std::span<const EventId> by_start() const&;

  /// Ids as in the file, 0 if absent.
  std::int64_t external_id(EventId event) const;
  std::int64_t correlation(EventId event) const;

  /// The device type that was recorded, if any: the file has events of the device or of its
  /// runtime, or lists devices.
  std::optional<DeviceType> device() const;

  /// Unix time of time 0 in nanoseconds (`baseTimeNanoseconds`); 0 if times are absolute. Traces of
  /// one job may have different bases: add the base before comparing times.
  std::int64_t base_time_ns() const;
  /// The earliest time of any row of the file, including rows that are not ranges.
  std::int64_t first_time_ns() const;
  /// The recording's window: the profiler's own span if the file has it, else from the first to the
  /// last event.
  std::int64_t window_start_ns() const;
  std::int64_t window_end_ns() const;
  /// The file has the profiler's own span, so both ends of the window are exact.
  bool has_window() const;

  /// Top-level members other than the events, as JSON text.
  const std::map<std::string, std::string, std::less<>>& metadata() const&;
  /// Whether the trace was read with an argument, so that it has those that are in the file.
  bool has_read(Argument argument) const;
  /// Fails, with the groups and what to do, if it was read without some of the arguments that the
  /// table `what` needs.
  Status check_read(ArgumentSet needed, std::string_view what) const;
  /// Fails for a merged timeline (merge.h), and for a file that has a step of the same number in
  /// several processes, as other tools merge: figures of it would mix the ranks of a job.
  Status check_not_merged() const;
  /// Whether the top-level member exists and is not 0, false or null.
  bool is_set(std::string_view metadata_key) const;

  TraceIdentity identity() const;

  /// The devices of the machine, also those without activities; empty if the file lists none.
  std::vector<DeviceProperties> device_properties() const;

  /// Problems of the input, one entry per kind; empty if the file is sound.
  const std::vector<Issue>& issues() const&;

  /// How the device work was linked to operators. Computed on the first call.
  const LinkReport& links() const&;

  // What a temporary trace has would be gone with it: keep the trace.
  const Events& events() const&& = delete;
  std::string_view string(StringId) const&& = delete;
  std::string_view name(EventId) const&& = delete;
  const Category& category(EventId) const&& = delete;
  const Track& track(TrackId) const&& = delete;
  std::span<const Track> tracks() const&& = delete;
  std::span<const Category> categories() const&& = delete;
  std::span<const MemoryRecord> memory() const&& = delete;
  std::span<const FlowEnd> flows() const&& = delete;
  const ArgumentColumn& argument(Argument) const&& = delete;
  const ArgumentColumn& memory_argument(Argument) const&& = delete;
  std::string_view argument_text(EventId, Argument) const&& = delete;
  std::span<const Step> steps() const&& = delete;
  std::span<const EventId> by_start() const&& = delete;
  const std::map<std::string, std::string, std::less<>>& metadata() const&& = delete;
  const std::vector<Issue>& issues() const&& = delete;
  const LinkReport& links() const&& = delete;

 private:
  friend class TraceBuilder;
  friend struct DerivedOfTrace;
  explicit Trace(std::unique_ptr<const TraceData> data);

  struct Derived;

  std::unique_ptr<const TraceData> data_;
  std::unique_ptr<Derived> derived_;
  Events events_;
  std::span<const Track> tracks_;
  std::span<const Category> categories_;
};

/// The member at the top of a merged timeline (merge.h) that says how it was made.
inline constexpr const char* kMergedRanks = "mergedRanks";

struct ReadOptions {
  /// Number of reading threads; 0: one per core.
  int threads = 0;
  /// Treats any issue of the input as a failure (StatusCode::check_failed).
  bool strict = false;
  /// The arguments to keep besides those of ArgumentGroup::row, which are always kept. Others are
  /// skipped and take no memory. Call stacks are always kept if the file says, before its events,
  /// that it was recorded with stacks: they contain names that the writer lost elsewhere.
  ArgumentSet arguments = kOperatorArguments;
  /// Leaves out operator inputs if it is certain that the recording did not ask for FLOPs, which
  /// can be known for files written by Kineto.
  bool inputs_for_flops_only = false;
  /// Called now and then from the calling thread, with the bytes read from the file (compressed
  /// bytes if it is compressed) and their total, 0 if unknown. If it returns false, reading ends
  /// with StatusCode::cancelled.
  std::function<bool(std::uint64_t done, std::uint64_t total)> on_progress = {};
};

/// Reads a trace from a file, plain or compressed, recognised by its content; `-` is standard
/// input, `ranks.tar.gz/rank0.json` a file in an archive. An archive is read if it holds one trace.
Result<Trace> read_trace(const std::string& path, const ReadOptions& options = {});

/// Reads a trace from a stream, which is read to its end.
Result<Trace> read_trace(std::istream& stream, const ReadOptions& options = {});

}  // namespace tbtrace
