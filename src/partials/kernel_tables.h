// Kernels in a partial.
#pragma once

#include <tbtrace/kernels.h>

#include "partials/content.h"

namespace tbtrace::partials {

void add_kernels(Content& content, const Trace& trace);

KernelSummary kernels_of(const Content& content, KernelGrouping group_by);

}  // namespace tbtrace::partials
