// Modules and lines in a partial.
#pragma once

#include <tbtrace/lines.h>
#include <tbtrace/modules.h>

#include "analyses/modules/cost_columns.h"
#include "partials/content.h"

namespace tbtrace::partials {

void add_modules(Content& content, const Trace& trace);
void add_lines(Content& content, const Trace& trace);

/// Whether each module's row has the row of the module around it.
bool has_whole_chains(const Content& content);

/// Siblings by their first call in any source. Where sources have different numbers of parameters,
/// the number is unknown: a model may be copied or divided among the ranks.
ModuleTree modules_of(const Content& content);

/// `libraries`: as in LinesOptions.
LineTable lines_of(const Content& content, bool libraries);

/// What people need to see of the costs.
analyses::CostColumns cost_columns_of(const Content& content, const ModuleCost& total,
                                      bool has_shapes);

}  // namespace tbtrace::partials
