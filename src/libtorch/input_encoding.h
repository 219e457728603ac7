// Operators' inputs into the bytes that recorder/inputs.h describes, by torch's rules of what is
// recorded of an input: shapes of tensors and of lists of them, values of scalars and short lists.
// For the recorded thread. Tensors that cannot tell their sizes count as nothing.
#pragma once

#include <string>
#include <vector>

#include <ATen/core/ivalue.h>

#include "recorder/inputs.h"

namespace tbtrace::libtorch {

void encode_inputs(c10::ArrayRef<const c10::IValue> inputs, recorder::InputsWriter& writer);

/// What torch calls element types, by their number: `float`, `long int`.
std::vector<std::string> element_type_names();

}  // namespace tbtrace::libtorch
