// Tables in the figures of torch-tb-profiler, by name.
#pragma once

#include <string_view>

#include <tbtrace/report.h>
#include <tbtrace/tables.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

// Of a table that has other figures than its own (figures_of()).

/// The arguments that they are made from.
ArgumentSet arguments_of_figures(std::string_view table);

Result<AnalysisReport> table_in_figures(std::string_view table, const Trace& trace, Figures figures,
                                        const OptionValues& values);

}  // namespace tbtrace::analyses
