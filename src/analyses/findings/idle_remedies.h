// What to do about idle time, by its cause and by what the trace has of it.
#pragma once

#include <string>
#include <string_view>

#include <tbtrace/gpu.h>

#include "analyses/findings/rules.h"

namespace tbtrace::analyses {

/// For a cause whose usual remedy is `usual`.
std::string idle_remedy(const FindingFacts& facts, const IdlePart& part, std::string_view usual);

/// For kernels that are launched late; `part`: the idle time while the host launched.
std::string launch_remedy(const FindingFacts& facts, const IdlePart& part);

/// For a device that had its next work already; `part`: that idle time.
std::string device_remedy(const FindingFacts& facts, const IdlePart& part);

/// A compiled program need not be told to compile, nor one with graphs to use graphs.
std::string without_what_is_done(const FindingFacts& facts, std::string_view first);

/// Whether it is in many gaps that are short, as between operators.
bool are_many_and_short(const IdlePart& part);

/// Whether most of the time in which the host launched went to operators that compute on the CPU.
bool computes_on_cpu(const IdlePart& launches);

}  // namespace tbtrace::analyses
