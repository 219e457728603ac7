// A tree of stacks as columns of JSON: docs/formats/views.md. Pure function.
#pragma once

#include <tbtrace/views.h>

#include "pages/view_content.h"
#include "wire/json_emitter.h"

namespace tbtrace::pages {

void emit_stacks(wire::JsonEmitter& json, const StacksContent& content, const ViewLimits& limits);

}  // namespace tbtrace::pages
