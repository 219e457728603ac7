// What is known about the traces of a result. Pure function.
#pragma once

#include <span>

#include <tbtrace/analyses.h>

namespace tbtrace::analyses {

SourceReport source_report(std::span<const Trace* const> traces);

}  // namespace tbtrace::analyses
