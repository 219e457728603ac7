// The value of a cell as JSON.
#pragma once

#include <tbtrace/report.h>

#include "wire/json_emitter.h"

namespace tbtrace::writers {

/// No value is null, a list is an array, and Json is written unchanged.
void emit_cell(wire::JsonEmitter& json, const Cell& cell);

}  // namespace tbtrace::writers
