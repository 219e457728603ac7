// How the events of a trace belong together: which range is inside which, which call launched which
// kernel, and in which operator, module and step.
// What a recording was asked for (record_shapes, profile_memory, with_stack, with_modules), whether
// it came, and what it is good for.
// An AnalysisContext refers to its Trace, which must outlive it and may be moved. Immutable: any
// number of threads may read one.
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
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

enum class RecordedOption : std::uint8_t {
  record_shapes,
  profile_memory,
  with_stack,
  with_modules
};
inline constexpr std::size_t kRecordedOptions = 4;

struct RecordedOptionState {
  RecordedOption option = RecordedOption::record_shapes;
  std::string_view name;       ///< as in torch and in the file: `with_stack`
  std::optional<bool> was_on;  ///< by the file's header; nullopt: it does not say
  bool has_data = false;       ///< what it records is in the trace
  /// Whether anything in the trace could have the data: it has operators (that allocate), and was
  /// read with the arguments. Without, nothing is missing.
  bool could_have_data = false;
  std::string_view data;           ///< what it records: `Python frames`
  std::string_view causes;         ///< known ones of data that are lost, a sentence or two
  std::string_view remedy;         ///< what to do then
  std::string_view how_to_record;  ///< what to do if it was off: `record with with_stack=True`
  std::span<const std::string_view> unlocks;  ///< what needs the data: tables, columns, groupings

  /// It was on, and nothing came.
  bool is_lost() const { return was_on.value_or(false) && !has_data && could_have_data; }
  /// The next recording would have the data with this option. Modules come with stacks.
  bool is_missing() const {
    return !has_data && could_have_data && !is_lost() && option != RecordedOption::with_modules;
  }
};

/// The arguments that tell whether the data came.
inline constexpr ArgumentSet kRecordedOptionArguments = {Argument::input_dims, Argument::call_stack,
                                                         Argument::module_hierarchy};

/// One per RecordedOption, in its order.
std::array<RecordedOptionState, kRecordedOptions> recorded_options(const Trace& trace);
RecordedOptionState recorded_option(const Trace& trace, RecordedOption option);

/// For people, a line each: what came, and what did not, with what it would be good for. What was
/// on and is lost is not among them: `check` has it as a warning.
std::vector<std::string> recorded_lines(std::span<const RecordedOptionState> states);

/// What to say where the data of an option are needed and the trace has none of them: how to record
/// them, or, if they were recorded, that they were lost, the known causes, and the remedy. For one
/// line of text; begins in lower case.
std::string missing_data_text(const Trace& trace, RecordedOption option);

/// The same for `nn.Module` frames, which come with stacks.
std::string missing_modules_text(const Trace& trace);

/// Every function takes EventId::none as well, and then finds nothing.
class AnalysisContext {
 public:
  /// Takes time and memory in proportion to the trace: about 16 bytes per event, and as much again
  /// that the Trace keeps.
  explicit AnalysisContext(const Trace& trace);
  AnalysisContext(const Trace&&) = delete;  // would refer to a Trace that is gone
  AnalysisContext(AnalysisContext&&) noexcept;
  AnalysisContext& operator=(AnalysisContext&&) noexcept;
  ~AnalysisContext();

  /// The range around a host range: the one that started last among those open from its start to
  /// its end on its thread. For a launch only its start counts, because the driver's clock sets its
  /// end. EventId::none for the outermost ranges and for events that are not host ranges.
  EventId parent(EventId event) const;

  /// All host ranges, parents first; within a thread in the order of their starts.
  std::span<const EventId> host_ranges() const&;
  std::span<const EventId> host_ranges() const&& = delete;

  /// Time in which a host range was the one that started last among those open on its thread; 0 for
  /// other events. The self times of a thread add up to busy_ns().
  std::int64_t self_time_ns(EventId event) const;

  /// Time in which at least one range was open on a thread of the host.
  std::int64_t busy_ns(TrackId thread) const;

  /// All device activities, by start.
  std::span<const DeviceLink> device_links() const&;
  std::span<const DeviceLink> device_links() const&& = delete;

  /// nullptr for an event that is not a device activity.
  const DeviceLink* device_link(EventId activity) const&;
  const DeviceLink* device_link(EventId) const&& = delete;

  /// The innermost operator that a host range is or is inside. Of a device activity: the innermost
  /// operator that DeviceLink::op is or is inside.
  EventId operator_of(EventId event) const;

  /// The innermost `nn.Module` frame that a host range is or is inside; of a device activity, the
  /// one around its launch. EventId::none in a backward pass, which autograd runs on a thread of
  /// its own.
  EventId module_of(EventId event) const;

  /// The `ProfilerStep#N` of the same process that was open when a host range started, or when a
  /// device activity was launched; if several were, the one that started last. Steps that are all
  /// in one process are those of all. nullptr if none was open.
  const Step* step_of(EventId event) const;

 private:
  struct Data;
  std::unique_ptr<const Data> data_;
};

}  // namespace tbtrace
