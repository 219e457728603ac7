// Operator summaries in a partial.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <tbtrace/operators.h>

#include "partials/content.h"

namespace tbtrace::partials {

/// Adds the tables of all groupings. Those by overload, shape or stack are left out if the trace
/// has none. Each thread of the source with this digest is a row of its own.
void add_operators(Content& content, const Trace& trace, const std::string& digest);

bool is_operator_table(TableId table);

/// Adds the tables of another partial. `text_of`: by text there, its number here.
void merge_operators(Content& content, const Content& other,
                     std::span<const std::uint32_t> text_of);

OperatorSummary operators_of(const Content& content, const SummaryOptions& options);

}  // namespace tbtrace::partials
