// A timeline as a document with columns: docs/formats/timeline.md. Pure function.
#pragma once

#include <string>

#include <tbtrace/views.h>

#include "pages/view_content.h"

namespace tbtrace::pages {

/// Of a content with a timeline.
std::string timeline_text(const ViewContent& content, const ViewLimits& limits);

}  // namespace tbtrace::pages
