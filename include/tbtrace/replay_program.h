// A Python program that runs an operator with the inputs that a recording has of it, and times it:
// what is handed to who makes it faster.
// Results own what they hold. Any thread.
#pragma once

#include <cstddef>
#include <string>

#include <tbtrace/arguments.h>
#include <tbtrace/export.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

struct ReplayOptions {
  std::string op;               ///< `aten::mm`
  std::string shapes;           ///< only inputs of these shapes, `[[32, 28], []]`; empty: all
  std::size_t most_inputs = 5;  ///< those whose calls take the most time together
};

/// What a trace has to be read with.
inline constexpr ArgumentSet kReplayArguments = {ArgumentGroup::inputs, ArgumentGroup::strides,
                                                 ArgumentGroup::placement};

/// The program's text. It needs torch alone; the numbers in tensors are not recorded, and are
/// random. Times are those of the calls on the host, or of the device work that they launched, if
/// they did. The trace must have been read with kReplayArguments. Fails with invalid_argument if
/// the trace has no such operator, or no inputs of it.
Result<std::string> replay_program(const Trace& trace, const ReplayOptions& options);

}  // namespace tbtrace
