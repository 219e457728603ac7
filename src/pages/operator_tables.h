// Operators in exact figures, by name, by input shape and by stack. Pure function.
#pragma once

#include "pages/view_content.h"

namespace tbtrace::pages {

Status add_operator_tables(const Trace& trace, ViewContent& content);

}  // namespace tbtrace::pages
