// What is known about the traces of a result.
#pragma once

#include <span>

#include <tbtrace/report.h>

namespace tbtrace::report {

/// Adds what is known about other traces.
void add_source(SourceReport& sum, const SourceReport& other);

SourceReport source_report(const Trace& trace);
SourceReport source_report(std::span<const Trace* const> traces);

}  // namespace tbtrace::report
