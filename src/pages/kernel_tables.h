// Where kernels came from, beside what they took. Pure function.
#pragma once

#include "pages/view_content.h"

namespace tbtrace::pages {

/// Adds to the table `by_name` of a view of kernels the operator, the input shapes, the line and
/// the module that most of the time of each came from.
Status add_kernel_origins(const ViewedTrace& viewed, ViewContent& content);

}  // namespace tbtrace::pages
