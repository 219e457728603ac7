// The options and notes of `tbtrace.memory/1`.
#pragma once

#include <cstdint>
#include <string>

#include <tbtrace/memory.h>
#include <tbtrace/tables.h>

namespace tbtrace::analyses {

MemoryOptions memory_options(const OptionValues& values);

/// What it means that so many records have no address.
std::string without_address_text(std::uint64_t records);

}  // namespace tbtrace::analyses
