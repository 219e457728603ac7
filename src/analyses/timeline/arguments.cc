#include "analyses/timeline/arguments.h"

#include <optional>
#include <unordered_map>
#include <utility>

#include "wire/json_emitter.h"

namespace tbtrace::analyses {
namespace {

/// Integers with more different values than this are kept unchanged.
constexpr std::size_t kMostNumbers = 4096;

/// Ids are in the rows, all other arguments in columns.
bool is_id(Argument argument) {
  return argument == Argument::external_id || argument == Argument::correlation;
}

bool is_of_events(Argument argument) {
  const ArgumentGroup group = argument_row(argument).group;
  return is_id(argument) || (group != ArgumentGroup::row && group != ArgumentGroup::allocations);
}

bool has_any(const Trace& trace, Argument argument) {
  return is_id(argument) || !trace.argument(argument).empty();
}

std::optional<std::int64_t> integer_of(const Trace& trace, EventId event, Argument argument) {
  if (!is_id(argument)) return trace.argument(argument).integer(event);
  const std::int64_t id =
      argument == Argument::correlation ? trace.correlation(event) : trace.external_id(event);
  return id == 0 ? std::nullopt : std::optional(id);
}

/// Integers, as numbers of their values while these are few.
TimelineArgument integers(const Trace& trace, std::span<const EventId> events, Argument argument) {
  TimelineArgument made;
  made.values.reserve(events.size());
  std::unordered_map<std::int64_t, std::int64_t> numbers;
  for (const EventId event : events) {
    const std::optional<std::int64_t> value = integer_of(trace, event, argument);
    if (!value) {
      made.values.push_back(0);
      continue;
    }
    const auto [place, is_new] =
        numbers.try_emplace(*value, static_cast<std::int64_t>(numbers.size() + 1));
    if (is_new) {
      if (numbers.size() > kMostNumbers) break;
      made.texts.push_back(std::to_string(*value));
    }
    made.values.push_back(place->second);
  }
  if (numbers.size() <= kMostNumbers) return made;
  made.is_integer = true;
  made.texts.clear();
  made.values.clear();
  std::int64_t last = 0;
  for (const EventId event : events) {
    const std::optional<std::int64_t> value = integer_of(trace, event, argument);
    last = value.value_or(last);
    made.values.push_back(last);
    made.has.push_back(value ? 1 : 0);
  }
  return made;
}

/// All others: by what tells values apart without their text.
TimelineArgument texts(const Trace& trace, std::span<const EventId> events, Argument argument) {
  TimelineArgument made;
  made.values.reserve(events.size());
  const ArgumentColumn& column = trace.argument(argument);
  const ArgumentType type = argument_row(argument).type;
  const bool has_text = type == ArgumentType::text || type == ArgumentType::json;
  std::unordered_map<std::uint32_t, std::int64_t> by_id;
  std::unordered_map<std::string, std::int64_t> by_text;
  for (const EventId event : events) {
    if (!column.has(event)) {
      made.values.push_back(0);
      continue;
    }
    const auto next = static_cast<std::int64_t>(made.texts.size() + 1);
    if (has_text) {
      const auto id = static_cast<std::uint32_t>(column.text(event));
      const auto [place, is_new] = by_id.try_emplace(id, next);
      if (is_new) made.texts.push_back(argument_json(trace, event, argument));
      made.values.push_back(place->second);
      continue;
    }
    std::string json = argument_json(trace, event, argument);
    const auto [place, is_new] = by_text.try_emplace(json, next);
    if (is_new) made.texts.push_back(std::move(json));
    made.values.push_back(place->second);
  }
  return made;
}

}  // namespace

std::string argument_json(const Trace& trace, EventId event, Argument argument) {
  std::string text;
  wire::JsonEmitter json(text);
  const ArgumentColumn& column = trace.argument(argument);
  switch (argument_row(argument).type) {
    case ArgumentType::integer:
      if (const auto value = integer_of(trace, event, argument)) json.integer(*value);
      break;
    case ArgumentType::real:
      if (const auto value = column.real(event)) json.number(*value);
      break;
    case ArgumentType::text:
      if (column.has(event)) json.text(trace.string(column.text(event)));
      break;
    case ArgumentType::json:
      if (column.has(event)) json.raw(trace.string(column.text(event)));
      break;
    case ArgumentType::dim3:
      if (const auto value = column.dim3(event)) {
        json.begin_array();
        for (const std::uint32_t size : {value->x, value->y, value->z}) json.integer(size);
        json.end_array();
      }
      break;
    case ArgumentType::mark:
      break;
  }
  return text;
}

std::vector<Argument> arguments_of(const Trace& trace, EventId event) {
  std::vector<Argument> found;
  for (std::size_t number = 0; number < kArgumentCount; ++number) {
    const auto argument = static_cast<Argument>(number);
    if (!is_of_events(argument) || !has_any(trace, argument)) continue;
    const bool has = is_id(argument) ? integer_of(trace, event, argument).has_value()
                                     : trace.argument(argument).has(event);
    if (has) found.push_back(argument);
  }
  return found;
}

bool has_arguments(const Trace& trace) {
  for (std::size_t number = 0; number < kArgumentCount; ++number) {
    const auto argument = static_cast<Argument>(number);
    if (is_of_events(argument) && !is_id(argument) && has_any(trace, argument)) return true;
  }
  return false;
}

std::vector<TimelineArgument> timeline_arguments(const Trace& trace,
                                                 std::span<const EventId> events) {
  std::vector<TimelineArgument> arguments;
  for (std::size_t number = 0; number < kArgumentCount; ++number) {
    const auto argument = static_cast<Argument>(number);
    if (!is_of_events(argument) || !has_any(trace, argument)) continue;
    const ArgumentRow& row = argument_row(argument);
    TimelineArgument made = row.type == ArgumentType::integer ? integers(trace, events, argument)
                                                              : texts(trace, events, argument);
    if (!made.is_integer && made.texts.empty()) continue;
    made.key = row.keys.front();
    made.unit = row.unit;
    arguments.push_back(std::move(made));
  }
  return arguments;
}

}  // namespace tbtrace::analyses
