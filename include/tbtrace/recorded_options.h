// What a recording was asked for, whether it came, and what it is good for: record_shapes,
// profile_memory, with_stack, with_modules.
// Plain values; texts are constants.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

}  // namespace tbtrace
