// LibTorch's schemas of operators, for recorder/memory/operator_schemas.h.
// Any thread. A name that no operator can have has no schemas.
#pragma once

#include <string>
#include <vector>

#include "recorder/memory/operator_schemas.h"

namespace tbtrace::libtorch {

/// Of all overloads of an operator.
std::vector<recorder::Schema> schemas_of(const std::string& name);

}  // namespace tbtrace::libtorch
