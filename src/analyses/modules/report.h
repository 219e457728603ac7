// The modules of a tree as the rows of `tbtrace.modules/1`, wherever it comes from.
#pragma once

#include <cstdint>
#include <optional>

#include <tbtrace/modules.h>
#include <tbtrace/tables.h>

#include "analyses/modules/cost_columns.h"

namespace tbtrace::analyses {

ModulesOptions modules_options(const OptionValues& values);

AnalysisReport module_report_of(const ModuleTree& tree, const ModulesOptions& options,
                                const CostColumns& columns, std::optional<std::int64_t> rank,
                                SourceReport source);

}  // namespace tbtrace::analyses
