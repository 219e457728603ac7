// The names of the dispatcher's operators by the address of their text, which tells an operator
// without looking at its bytes.
// Names are kept for the process's life. Loading is for one thread at a time, looking for any.
// Names that are not the dispatcher's (of user ranges, of autograd's nodes) are not found here.
#pragma once

#include "recorder/name_table.h"

namespace tbtrace::libtorch {

/// Takes in the operators that there are now; about a millisecond when there are new ones.
void load_operator_names();

/// Null if `text` is no operator's.
const recorder::Name* operator_name(const char* text);

}  // namespace tbtrace::libtorch
