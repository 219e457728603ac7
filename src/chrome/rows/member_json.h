// Members of rows copied as strict JSON: values that are not JSON become text, half surrogate pairs
// and wrong UTF-8 become U+FFFD. Both are counted.
#pragma once

#include <string>
#include <string_view>

#include <tbtrace/convert.h>

#include "trace/event_batch.h"

namespace tbtrace::chrome {

/// Appends `"key":`.
void append_key(std::string& json, const RowMember& member);

/// Appends `"key":value`; the value is JSON.
void append_copied(std::string& json, const RowMember& member, std::string_view value);

/// Appends the value alone.
void append_value(std::string& json, std::string_view value, Changes& changes);

/// Appends `"key":value`.
void append_member(std::string& json, const RowMember& member, Changes& changes);

/// Appends `"key": value`, of a member of the document.
void append_metadata(std::string& json, std::string_view key, std::string_view value,
                     Changes& changes);

/// `NaN`, `Infinity` and the like, which would become text.
bool is_lost_number(std::string_view json);

/// A process or thread id as the file has it; numbers in their shortest form.
std::string id_text(const EventBatch& rows, const TrackKey& key);

/// Arguments of kernels and memory records that readers calculate with, and fail at if they are
/// text.
bool is_calculated_with(Argument argument);

}  // namespace tbtrace::chrome
