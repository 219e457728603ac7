// A table as columns of JSON: docs/formats/views.md. Pure function.
#pragma once

#include <cstddef>

#include <tbtrace/views.h>

#include "pages/view_content.h"
#include "wire/json_emitter.h"

namespace tbtrace::pages {

/// Drops the rows beyond a limit, so that they take no memory. Those of a curve are thinned.
void drop_rows(TableContent& content, std::size_t limit);

void emit_table(wire::JsonEmitter& json, const TableContent& content, const ViewLimits& limits);

}  // namespace tbtrace::pages
