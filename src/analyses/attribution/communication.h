// What counts as communication on a device: one definition for kernels, GPU use, steps, summaries
// and findings.
#pragma once

#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// Whether a kernel's name, mangled or not, is one of a library that moves data between devices.
/// The rules are a table in the source file. Any bytes are accepted.
bool is_communication_kernel(std::string_view name);

/// By EventId, the device work that is communication: kernels with such a name; kernels, memcpys
/// and memsets that a collective launched, as collectives on copy engines do, or that have the id
/// of a collective's annotation on the device, if ids are valid; copies to other devices anywhere
/// in a collective. Takes O(n) time, for copies times the depth of their launches.
std::vector<bool> communication_work(const Trace& trace);

}  // namespace tbtrace::analyses
