// Adds a partial to another.
#pragma once

#include <string>

#include <tbtrace/status.h>

#include "partials/content.h"

namespace tbtrace::partials {

/// Fails, and changes nothing, if the options differ, or if a source is in both.
Status merge(Content& content, const Content& other);

}  // namespace tbtrace::partials
