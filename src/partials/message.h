// A partial as the bytes of one Protocol Buffers message: docs/formats/partial.md.
// Two implementations: with protobuf, and one in which can_write_partials() fails. Pure functions.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <tbtrace/status.h>

#include "partials/content.h"

namespace tbtrace::partials {

/// Fails if this build has no protobuf.
Status can_write_partials();

std::string message_of(const Content& content);

/// Fails for bytes that message_of() cannot have written. nullptr never.
Result<std::unique_ptr<Content>> content_in(std::string_view message_bytes);

}  // namespace tbtrace::partials
