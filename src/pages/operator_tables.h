// Operators in exact figures, by name, by input shape and by stack. Pure function.
#pragma once

#include "pages/view_content.h"

namespace tbtrace::pages {

Status add_operator_tables(const ViewedTrace& viewed, ViewContent& content);

/// In the figures of PyTorch's TensorBoard plugin, by name and by input shape.
Status add_plugin_operators(const ViewedTrace& viewed, ViewContent& content);

}  // namespace tbtrace::pages
