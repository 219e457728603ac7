// The options of `tbtrace.memory/1`.
#pragma once

#include <tbtrace/memory.h>
#include <tbtrace/table_description.h>

namespace tbtrace::analyses {

MemoryReportOptions memory_options(const OptionValues& values);

}  // namespace tbtrace::analyses
