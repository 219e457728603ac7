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
                    .has_choice = !text("threads").empty() || !text("name").empty(),
                    .begins_later = wire::json_integer(json, "start_ns").value_or(0) > 0};
}

namespace {

bool is_without(const SlicedPart& part, std::string_view kind) {
  return (", " + part.without + ",").find(", " + std::string(kind) + ",") != std::string::npos;
}

}  // namespace

bool was_left_out(const Trace& trace, std::string_view kind) {
  const std::optional<SlicedPart> part = sliced_part(trace);
  return part && (part->has_choice || is_without(*part, kind));
}

std::string left_out_text(const Trace& trace, std::string_view kind) {
  const SlicedPart part = sliced_part(trace).value_or(SlicedPart());
  const std::string source = part.source.empty() ? "the whole trace" : part.source;
  if (!is_without(part, kind)) {
    return "slicing took only some threads or names of " + source + "; slice it again, or use it";
  }
  return "slicing left out the " + std::string(kind) + " of " + source +
         "; slice it again with them";
}

}  // namespace tbtrace::analyses
