#include "analyses/recording/sliced.h"

#include <map>

#include "wire/json_objects.h"
#include "wire/json_strict.h"
#include "wire/json_values.h"

namespace tbtrace::analyses {

std::optional<SlicedPart> sliced_part(const Trace& trace) {
  const auto member = trace.metadata().find(kSliceMember);
  if (member == trace.metadata().end()) return std::nullopt;
  std::string json;
  if (!wire::append_strict_json(json, member->second, false) || !json.starts_with('{')) {
    return std::nullopt;
  }
  const auto values = wire::json_scalars(json);
  const auto text = [&](std::string_view key) {
    const auto found = values.find(key);
    return found == values.end() ? std::string() : wire::json_text(found->second).value_or("");
  };
  return SlicedPart{.source = text("source"),
                    .without = text("without"),
                    .has_choice = !text("threads").empty() || !text("name").empty()};
}

bool was_left_out(const Trace& trace, std::string_view kind) {
  const std::optional<SlicedPart> part = sliced_part(trace);
  return part &&
         (", " + part->without + ",").find(", " + std::string(kind) + ",") != std::string::npos;
}

std::string left_out_text(const Trace& trace, std::string_view kind) {
  const std::optional<SlicedPart> part = sliced_part(trace);
  return "slicing left out the " + std::string(kind) + " of " +
         (part && !part->source.empty() ? part->source : "the whole trace") +
         "; slice it again with them";
}

}  // namespace tbtrace::analyses
