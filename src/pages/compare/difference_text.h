// A flame graph of a comparison as JSON: docs/formats/comparison.md. Pure function.
#pragma once

#include <string_view>

#include <tbtrace/compare_page.h>
#include <tbtrace/flame_difference.h>

#include "wire/json_emitter.h"

namespace tbtrace::pages {

void emit_difference(wire::JsonEmitter& json, const FlameDifference& difference,
                     const ComparisonLimits& limits);

}  // namespace tbtrace::pages
