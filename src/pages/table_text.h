// A table as columns of JSON: docs/formats/views.md. Pure function.
#pragma once

#include <tbtrace/views.h>

#include "pages/view_content.h"
#include "wire/json_emitter.h"

namespace tbtrace::pages {

void emit_table(wire::JsonEmitter& json, const TableContent& content, const ViewLimits& limits);

}  // namespace tbtrace::pages
