// A tree of stacks as columns of JSON: docs/formats/views.md. Pure function.
#pragma once

#include <cstddef>
#include <string_view>

#include <tbtrace/views.h>

#include "pages/text_list.h"
#include "pages/view_content.h"
#include "wire/json_emitter.h"

namespace tbtrace::pages {

template <typename List>
void emit_integers(wire::JsonEmitter& json, std::string_view key, const List& list) {
  json.key(key);
  json.begin_array();
  for (const auto value : list) json.integer(value);
  json.end_array();
}

/// The members `texts`, `names_cut` and `kinds`: names of frames, of at most so many characters,
/// and what the frames are.
void emit_frame_texts(wire::JsonEmitter& json, const TextList& texts, std::size_t characters);

void emit_stacks(wire::JsonEmitter& json, const StacksContent& content, const ViewLimits& limits);

}  // namespace tbtrace::pages
