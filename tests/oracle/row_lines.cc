#include "row_lines.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "compact_json.h"

namespace tbtrace::oracle {
namespace {

/// Builds one line: an array whose first element is the row's kind.
class Line {
 public:
  explicit Line(std::string_view kind) {
    text_ = "[";
    append_quoted(text_, kind);
  }

  template <std::integral T>
  Line& number(T value) {
    text_ += "," + std::to_string(value);
    return *this;
  }
  Line& string(std::string_view value) {
    text_.push_back(',');
    append_quoted(text_, value);
    return *this;
  }
  Line& raw(std::string_view json) {
    text_.push_back(',');
    text_ += json;
    return *this;
  }
  std::string done() {
    text_.push_back(']');
    return std::move(text_);
  }

 private:
  std::string text_;
};

/// Text that the model holds as it stands in the file. Text that is not JSON is a string.
std::string json_of(std::string_view text) {
  if (auto compact = compact_json(text)) return *std::move(compact);
  std::string quoted;
  append_quoted(quoted, text);
  return quoted;
}

void add_key(Line& line, const Trace& trace, const TrackKey& key) {
  if (key.text == StringId::empty) {
    line.raw(key.number_text());
  } else {
    line.string(trace.string(key.text));
  }
}

void add_track(Line& line, const Trace& trace, TrackId id) {
  const Track& track = trace.track(id);
  add_key(line, trace, track.process);
  add_key(line, trace, track.thread);
}

class Arguments {
 public:
  void add(std::string_view key, std::string_view json) {
    json_ += json_.empty() ? "{" : ",";
    append_quoted(json_, key);
    json_.push_back(':');
    json_ += json;
  }
  void add_flag(std::string_view key, bool set) {
    if (set) add(key, "true");
  }
  std::string done() { return json_.empty() ? "{}" : json_ + "}"; }

 private:
  std::string json_;
};

/// A double with 17 digits, which tell every one from every other.
std::string seventeen_digits(double value) {
  std::array<char, 32> text;
  const int length = std::snprintf(text.data(), text.size(), "%.17g", value);
  return {text.data(), static_cast<std::size_t>(length)};
}

void add_argument(Arguments& arguments, const Trace& trace, EventId event, Argument which) {
  const ArgumentColumn& column = trace.argument(which);
  const ArgumentRow& row = argument_row(which);
  if (!column.has(event)) return;
  switch (row.type) {
    case ArgumentType::integer:
      return arguments.add(row.name, std::to_string(*column.integer(event)));
    case ArgumentType::real:
      return arguments.add(row.name, seventeen_digits(*column.real(event)));
    case ArgumentType::text:
    case ArgumentType::json:
      return arguments.add(row.name, json_of(trace.string(column.text(event))));
    case ArgumentType::dim3: {
      const Dim3 sizes = *column.dim3(event);
      return arguments.add(row.name, "[" + std::to_string(sizes.x) + "," + std::to_string(sizes.y) +
                                         "," + std::to_string(sizes.z) + "]");
    }
    case ArgumentType::mark:
      return;
  }
}

void ranges(const Trace& trace, const TakeRow& take) {
  const Events& events = trace.events();
  for (std::size_t row = 0; row < events.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    Arguments arguments;
    if (const std::int64_t id = trace.external_id(event); id != 0) {
      arguments.add("external_id", std::to_string(id));
    }
    if (const std::int64_t id = trace.correlation(event); id != 0) {
      arguments.add("correlation", std::to_string(id));
    }
    for (std::size_t which = 0; which < kArgumentCount; ++which) {
      add_argument(arguments, trace, event, static_cast<Argument>(which));
    }
    arguments.add_flag("unfinished", events.unfinished(event));
    arguments.add_flag("python_frame", events.is_python_frame(event));
    arguments.add_flag("module", events.is_module(event));
    arguments.add_flag("asynchronous", events.is_asynchronous(event));
    Line line("range");
    line.string(trace.name(event));
    const StringId category = trace.category(event).name;
    if (category == StringId::empty) {
      line.raw("null");
    } else {
      line.string(trace.string(category));
    }
    add_track(line, trace, events.track(event));
    line.number(events.start_ns(event)).number(events.duration_ns(event)).raw(arguments.done());
    take("range", line.done());
  }
}

void memory(const Trace& trace, const TakeRow& take) {
  const ArgumentColumn& address = trace.memory_argument(Argument::address);
  const ArgumentColumn& reserved = trace.memory_argument(Argument::total_reserved);
  for (std::size_t row = 0; row < trace.memory().size(); ++row) {
    const MemoryRecord& record = trace.memory()[row];
    Line line("memory");
    line.number(record.time_ns)
        .number(record.bytes)
        .number(static_cast<std::int64_t>(record.device_type));
    line.number(record.device_id).number(record.total_allocated_bytes);
    line.number(address.integer(row).value_or(-1)).number(reserved.integer(row).value_or(-1));
    add_track(line, trace, record.track);
    take("memory", line.raw(record.out_of_memory ? "true" : "false").done());
  }
}

void flows(const Trace& trace, const TakeRow& take) {
  for (const FlowEnd& end : trace.flows()) {
    const bool autograd = end.type == FlowEnd::Type::forward_backward;
    Line line("flow");
    line.string(end.start ? "s" : "f").string(autograd ? "forward_backward" : "launch");
    line.number(end.id).number(end.time_ns);
    add_track(line, trace, end.track);
    take("flow", line.done());
  }
}

void members(const Trace& trace, const TakeRow& take) {
  for (const auto& [key, json] : trace.metadata()) {
    take("member", Line("member").string(key).raw(json_of(json)).done());
  }
}

/// Tracks that have a name, and either rows or a name of their own: the rows that name processes
/// need no track. The order of tracks in the model says nothing.
void names(const Trace& trace, const TakeRow& take) {
  std::vector<bool> has_rows(trace.tracks().size());
  const Events& events = trace.events();
  for (std::size_t row = 0; row < events.size(); ++row) {
    has_rows[index(events.track(static_cast<EventId>(row)))] = true;
  }
  for (const MemoryRecord& record : trace.memory()) has_rows[index(record.track)] = true;
  for (const FlowEnd& end : trace.flows()) has_rows[index(end.track)] = true;
  std::vector<std::string> lines;
  for (std::size_t number = 0; number < has_rows.size(); ++number) {
    const Track& track = trace.tracks()[number];
    const bool process_named = track.process_name != StringId::empty;
    const bool thread_named = track.thread_name != StringId::empty;
    if (!thread_named && !(process_named && has_rows[number])) continue;
    Line line("name");
    add_key(line, trace, track.process);
    add_key(line, trace, track.thread);
    line.string(trace.string(track.process_name)).string(trace.string(track.thread_name));
    lines.push_back(line.done());
  }
  std::sort(lines.begin(), lines.end());
  for (const std::string& line : lines) take("name", line);
}

}  // namespace

void for_each_row(const Trace& trace, const TakeRow& take) {
  take("base", Line("base").number(trace.base_time_ns()).done());
  members(trace, take);
  names(trace, take);
  ranges(trace, take);
  memory(trace, take);
  flows(trace, take);
}

}  // namespace tbtrace::oracle
