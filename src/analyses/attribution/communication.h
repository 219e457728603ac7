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

/// By EventId, the kernels that are communication: those with such a name, those whose operator is
/// a collective, and those with the id of a collective's annotation on the device, if ids are
/// valid. Copies that a collective made are not kernels. Takes O(n) time.
std::vector<bool> communication_kernels(const Trace& trace);

}  // namespace tbtrace::analyses
