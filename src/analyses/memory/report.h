// The options of `tbtrace.memory/1`.
#pragma once

#include <tbtrace/memory.h>
#include <tbtrace/tables.h>

namespace tbtrace::analyses {

MemoryOptions memory_options(const OptionValues& values);

}  // namespace tbtrace::analyses
