// Whether Kineto's C++ writer made a file, which escapes nothing but keeps to one line layout.
// Pure function. Recognised once per file, at its first event.
#pragma once

#include <optional>
#include <string_view>

#include "wire/json_scanner.h"

namespace tbtrace::readers {

/// How the strings of a document are written; `text` starts at its `"traceEvents"`. Nothing if it
/// ends before that can be told.
///
/// Kineto sets events at two blanks and their members at four. Since April 2026 it writes one
/// member a line, after a line of blanks; before, several a line. No general JSON writer does
/// either. Source: libkineto/src/output_json.cpp, 2020 to 2026.
std::optional<wire::Quoting> quoting_of_events(std::string_view text);

}  // namespace tbtrace::readers
