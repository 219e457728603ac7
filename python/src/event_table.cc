#include "event_table.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include <tbtrace/analysis_context.h>

namespace tbtrace::python {
namespace {

/// A trace with what belongs together in it, which takes time to find and is found if a column
/// needs it.
struct Source {
  std::shared_ptr<const Trace> trace;
  std::optional<AnalysisContext> context;

  const Events& events() const { return trace->events(); }
};

/// A column of whole numbers; nullopt: no value.
struct Numbers {
  std::function<std::optional<std::int64_t>(EventId)> of;
  /// The same for all events, if the trace has them in a row.
  std::span<const std::int64_t> all = {};
};

/// A column of texts that repeat: their numbers, -1 for no value, and the text of a number.
struct Texts {
  std::function<std::int64_t(EventId)> number_of;
  std::function<std::string(std::int64_t)> text_of;
};

/// A column of doubles; nullopt: no value.
struct Reals {
  std::function<std::optional<double>(EventId)> of;
};

using Values = std::variant<Numbers, Texts, Reals>;

std::string key_text(const Trace& trace, const TrackKey& key) {
  return key.text == StringId::empty ? key.number_text() : std::string(trace.string(key.text));
}

std::optional<std::int64_t> row_of(EventId event) {
  if (event == EventId::none) return std::nullopt;
  return static_cast<std::int64_t>(index(event));
}

std::optional<std::int64_t> not_zero(std::int64_t number) {
  return number == 0 ? std::nullopt : std::optional(number);
}

Texts names(const Source& source, std::function<EventId(EventId)> named) {
  const Trace& trace = *source.trace;
  return {[&trace, named = std::move(named)](EventId event) {
            const EventId other = named(event);
            return other == EventId::none ? -1
                                          : static_cast<std::int64_t>(trace.events().name(other));
          },
          [&trace](std::int64_t number) {
            return std::string(trace.string(static_cast<StringId>(number)));
          }};
}

Texts of_tracks(const Source& source, std::function<std::string(const Track&)> text_of) {
  const Trace& trace = *source.trace;
  return {
      [&trace](EventId event) { return static_cast<std::int64_t>(trace.events().track(event)); },
      [&trace, text_of = std::move(text_of)](std::int64_t number) {
        return text_of(trace.track(static_cast<TrackId>(number)));
      }};
}

Values event_row(const Source& /*source*/) { return Numbers{row_of}; }

Values name(const Source& source) {
  return names(source, [](EventId event) { return event; });
}

Values category(const Source& source) {
  const Trace& trace = *source.trace;
  return Texts{
      [&trace](EventId event) { return static_cast<std::int64_t>(trace.events().category(event)); },
      [&trace](std::int64_t number) {
        return std::string(trace.string(trace.categories()[static_cast<std::size_t>(number)].name));
      }};
}

Values kind(const Source& source) {
  const Trace& trace = *source.trace;
  return Texts{[&trace](EventId event) { return static_cast<std::int64_t>(trace.kind(event)); },
               [](std::int64_t number) {
                 return std::string(event_kind_name(static_cast<EventKind>(number)));
               }};
}

Values process(const Source& source) {
  return of_tracks(source, [trace = source.trace.get()](const Track& track) {
    return key_text(*trace, track.process);
  });
}

Values thread(const Source& source) {
  return of_tracks(source, [trace = source.trace.get()](const Track& track) {
    return key_text(*trace, track.thread);
  });
}

Values thread_name(const Source& source) {
  return of_tracks(source, [trace = source.trace.get()](const Track& track) {
    return std::string(trace->string(track.thread_name));
  });
}

Values start_ns(const Source& source) {
  return Numbers{[&events = source.events(), window = source.trace->window_start_ns()](
                     EventId event) { return std::optional(events.start_ns(event) - window); }};
}

Values duration_ns(const Source& source) {
  const Events& events = source.events();
  return Numbers{[&events](EventId event) { return std::optional(events.duration_ns(event)); },
                 events.durations_ns()};
}

Values self_time_ns(const Source& source) {
  return Numbers{[&source](EventId event) -> std::optional<std::int64_t> {
    if (!is_host_range(source.trace->kind(event))) return std::nullopt;
    return source.context->self_time_ns(event);
  }};
}

Values parent(const Source& source) {
  return Numbers{[&source](EventId event) { return row_of(source.context->parent(event)); }};
}

EventId operator_around(const Source& source, EventId event) {
  return source.context->operator_of(event);
}

Values operator_row(const Source& source) {
  return Numbers{[&source](EventId event) { return row_of(operator_around(source, event)); }};
}

Values operator_name(const Source& source) {
  return names(source, [&source](EventId event) { return operator_around(source, event); });
}

Values module_name(const Source& source) {
  return names(source, [&source](EventId event) { return source.context->module_of(event); });
}

Values launch(const Source& source) {
  return Numbers{[&source](EventId event) -> std::optional<std::int64_t> {
    const DeviceLink* const link = source.context->device_link(event);
    return link == nullptr ? std::nullopt : row_of(link->launch);
  }};
}

Values step(const Source& source) {
  return Numbers{[&source](EventId event) -> std::optional<std::int64_t> {
    const Step* const step = source.context->step_of(event);
    return step == nullptr ? std::nullopt : std::optional(step->number);
  }};
}

Values correlation(const Source& source) {
  const Trace& trace = *source.trace;
  return Numbers{[&trace](EventId event) { return not_zero(trace.correlation(event)); }};
}

Values external_id(const Source& source) {
  const Trace& trace = *source.trace;
  return Numbers{[&trace](EventId event) { return not_zero(trace.external_id(event)); }};
}

template <Argument kArgument>
Values number_argument(const Source& source) {
  const ArgumentColumn& column = source.trace->argument(kArgument);
  return Numbers{[&column](EventId event) { return column.integer(event); }};
}

/// Of an event on a stream, what its track says, as in all tables; of others the argument.
template <Argument kArgument>
Values place_of_work(const Source& source,
                     std::optional<std::int64_t> (*of)(const Trace& trace, const Track& track)) {
  const Trace& trace = *source.trace;
  const ArgumentColumn& column = trace.argument(kArgument);
  std::vector<std::optional<std::int64_t>> of_tracks;
  for (const Track& track : trace.tracks()) of_tracks.push_back(of(trace, track));
  return Numbers{[&trace, &column, of_tracks = std::move(of_tracks)](EventId event) {
    const EventKind kind = trace.kind(event);
    const bool is_on_stream = is_device_work(kind) || kind == EventKind::gpu_user_annotation;
    return is_on_stream ? of_tracks[index(trace.events().track(event))] : column.integer(event);
  }};
}

Values device(const Source& source) {
  return place_of_work<Argument::device>(source, [](const Trace& /*trace*/, const Track& track) {
    return std::optional(device_number(track));
  });
}

Values stream(const Source& source) {
  return place_of_work<Argument::stream>(source, [](const Trace& trace, const Track& track) {
    return number_in_name(key_text(trace, track.thread));
  });
}

Texts text_argument(const Source& source, Argument argument) {
  const Trace& trace = *source.trace;
  const ArgumentColumn& column = trace.argument(argument);
  return {[&column](EventId event) {
            return column.has(event) ? static_cast<std::int64_t>(column.text(event)) : -1;
          },
          [&trace](std::int64_t number) {
            return std::string(trace.string(static_cast<StringId>(number)));
          }};
}

Values input_shapes(const Source& source) { return text_argument(source, Argument::input_dims); }

/// Sizes as JSON, such as `[864, 1, 1]`.
Texts sizes_argument(const Source& source, Argument argument) {
  const ArgumentColumn& column = source.trace->argument(argument);
  struct Sizes {
    std::map<std::array<std::uint32_t, 3>, std::int64_t> numbers;
    std::vector<std::string> texts;
  };
  const auto key = [](const Dim3& sizes) { return std::array{sizes.x, sizes.y, sizes.z}; };
  const auto known = std::make_shared<Sizes>();
  column.for_each([&](EventId event) {
    const auto sizes = key(*column.dim3(event));
    const auto next = static_cast<std::int64_t>(known->texts.size());
    if (!known->numbers.try_emplace(sizes, next).second) return;
    known->texts.push_back("[" + std::to_string(sizes[0]) + ", " + std::to_string(sizes[1]) + ", " +
                           std::to_string(sizes[2]) + "]");
  });
  return {[&column, key, known](EventId event) {
            const std::optional<Dim3> sizes = column.dim3(event);
            return sizes ? known->numbers.at(key(*sizes)) : -1;
          },
          [known](std::int64_t number) { return known->texts[static_cast<std::size_t>(number)]; }};
}

Values argument_values(const Source& source, Argument argument) {
  const ArgumentColumn& column = source.trace->argument(argument);
  switch (argument_row(argument).type) {
    case ArgumentType::integer:
      return Numbers{[&column](EventId event) { return column.integer(event); }};
    case ArgumentType::real:
      return Reals{[&column](EventId event) { return column.real(event); }};
    case ArgumentType::dim3:
      return sizes_argument(source, argument);
    case ArgumentType::text:
    case ArgumentType::json:
    case ArgumentType::mark:
      break;
  }
  return text_argument(source, argument);
}

struct ColumnKind {
  std::string_view name;
  ValueType type;
  Values (*values)(const Source&);
  bool needs_context = false;
};

// To add a column, add a row.
constexpr std::array<ColumnKind, 22> kColumns = {
    {{"event", ValueType::integer, event_row},
     {"name", ValueType::text, name},
     {"category", ValueType::text, category},
     {"kind", ValueType::text, kind},
     {"process", ValueType::text, process},
     {"thread", ValueType::text, thread},
     {"thread_name", ValueType::text, thread_name},
     {"start_ns", ValueType::integer, start_ns},
     {"duration_ns", ValueType::integer, duration_ns},
     {"self_time_ns", ValueType::integer, self_time_ns, true},
     {"parent", ValueType::integer, parent, true},
     {"operator", ValueType::integer, operator_row, true},
     {"operator_name", ValueType::text, operator_name, true},
     {"module_name", ValueType::text, module_name, true},
     {"launch", ValueType::integer, launch, true},
     {"step", ValueType::integer, step, true},
     {"correlation", ValueType::integer, correlation},
     {"external_id", ValueType::integer, external_id},
     {"device", ValueType::integer, device},
     {"stream", ValueType::integer, stream},
     {"bytes", ValueType::integer, number_argument<Argument::copied_bytes>},
     {"input_shapes", ValueType::text, input_shapes}}};

class EventTable final : public TableData {
 public:
  EventTable(std::shared_ptr<const Trace> trace, const std::vector<const ColumnKind*>& kinds,
             const std::vector<Argument>& arguments) {
    const bool needs_context =
        std::ranges::any_of(kinds, [](const ColumnKind* column) { return column->needs_context; });
    source_.trace = std::move(trace);
    if (needs_context) source_.context.emplace(*source_.trace);
    for (const ColumnKind* const column : kinds) {
      columns_.push_back({std::string(column->name), column->values(source_)});
    }
    for (const Argument argument : arguments) {
      columns_.push_back(
          {std::string(argument_row(argument).name), argument_values(source_, argument)});
    }
  }

  const std::string& schema() const override { return schema_; }

  std::vector<std::string> columns() const override {
    std::vector<std::string> all;
    for (const Column& column : columns_) all.push_back(column.name);
    return all;
  }

  std::size_t size() const override { return source_.events().size(); }

  AnalysisReport part(std::size_t first, std::size_t count) const override {
    AnalysisReport part;
    part.schema = schema_;
    part.table.columns = columns();
    part.shown = columns();
    part.source = source();
    const std::size_t begin = std::min(first, size());
    const std::size_t end = begin + std::min(count, size() - begin);
    for (std::size_t row = begin; row < end; ++row) {
      std::vector<Cell>& cells = part.table.rows.emplace_back();
      for (const Column& column : columns_) {
        cells.push_back(cell(column.values, static_cast<EventId>(row)));
      }
    }
    return part;
  }

  std::vector<Cell> cells(std::size_t column, std::size_t first, std::size_t count) const override {
    std::vector<Cell> cells;
    const std::size_t begin = std::min(first, size());
    const std::size_t end = begin + std::min(count, size() - begin);
    for (std::size_t row = begin; row < end; ++row) {
      cells.push_back(cell(columns_[column].values, static_cast<EventId>(row)));
    }
    return cells;
  }

  SourceReport source() const override {
    SourceReport source;
    for (const Issue& issue : source_.trace->issues()) {
      source.issues[std::string(issue.id)] = issue.count;
    }
    source.links = source_.trace->links();
    return source;
  }

  Result<std::string> text(const ReportOptions& options) const override {
    return report_text(report_for(options), options);
  }

  Result<std::string> html(std::int64_t most) const override {
    const ReportOptions options = {.row_limit = most};
    return report_html(report_for(options), options);
  }

  ArrowColumn arrow_column(std::size_t number) const override {
    const Column& column = columns_[number];
    ArrowColumn arrow{.name = column.name, .rows = static_cast<std::int64_t>(size())};
    if (const auto* const numbers = std::get_if<Numbers>(&column.values)) {
      fill(*numbers, arrow);
    } else if (const auto* const reals = std::get_if<Reals>(&column.values)) {
      fill_numbers<double>("g", *reals, arrow);
    } else {
      fill(std::get<Texts>(column.values), arrow);
    }
    return arrow;
  }

 private:
  struct Column {
    std::string name;
    Values values;
  };

  /// With the rows that options choose, if they are the first ones.
  AnalysisReport report_for(const ReportOptions& options) const {
    const bool cut = options.sort_by.empty() && options.row_limit >= 0 &&
                     static_cast<std::size_t>(options.row_limit) < size();
    AnalysisReport report = part(0, cut ? static_cast<std::size_t>(options.row_limit) : size());
    if (cut) {
      report.notes.push_back(std::to_string(options.row_limit) + " of " + std::to_string(size()) +
                             " rows");
    }
    return report;
  }

  static Cell cell(const Values& values, EventId event) {
    if (const auto* const numbers = std::get_if<Numbers>(&values)) {
      const std::optional<std::int64_t> number = numbers->of(event);
      return number ? Cell(*number) : Cell();
    }
    if (const auto* const reals = std::get_if<Reals>(&values)) {
      const std::optional<double> real = reals->of(event);
      return real ? Cell(*real) : Cell();
    }
    const auto& texts = std::get<Texts>(values);
    const std::int64_t number = texts.number_of(event);
    return number < 0 ? Cell() : Cell(texts.text_of(number));
  }

  void fill(const Numbers& numbers, ArrowColumn& column) const {
    if (numbers.all.empty()) return fill_numbers<std::int64_t>("l", numbers, column);
    column.format = "l";
    column.buffers = {{}, {source_.trace, numbers.all.data()}};
  }

  template <typename Number, typename Values>
  void fill_numbers(const char* format, const Values& numbers, ArrowColumn& column) const {
    column.format = format;
    std::vector<Number> values(size());
    Validity valid;
    for (std::size_t row = 0; row < values.size(); ++row) {
      const std::optional<Number> value = numbers.of(static_cast<EventId>(row));
      valid.add(value.has_value());
      values[row] = value.value_or(Number{});
    }
    column.nulls = valid.nulls();
    column.buffers = {std::move(valid).finish(), owned_buffer(std::move(values))};
  }

  void fill(const Texts& texts, ArrowColumn& column) const {
    column.format = "i";
    TextDictionary dictionary;
    std::vector<std::int32_t> known;  // number in the dictionary by number in the trace, or -1
    std::vector<std::int32_t> values(size());
    Validity valid;
    for (std::size_t row = 0; row < values.size(); ++row) {
      const std::int64_t number = texts.number_of(static_cast<EventId>(row));
      valid.add(number >= 0);
      if (number < 0) continue;
      const auto place = static_cast<std::size_t>(number);
      if (place >= known.size()) known.resize(std::max(place + 1, 2 * known.size()), -1);
      if (known[place] < 0) known[place] = dictionary.number(texts.text_of(number));
      values[row] = known[place];
    }
    column.nulls = valid.nulls();
    column.buffers = {std::move(valid).finish(), owned_buffer(std::move(values))};
    column.dictionary = std::move(dictionary).finish();
  }

  const std::string schema_{kEventsSchema};
  Source source_;
  std::vector<Column> columns_;  // refer to source_
};

Result<Argument> argument_named(const std::string& name) {
  const std::vector<std::string_view> names = event_arguments();
  for (std::size_t row = 0; row < kArgumentCount; ++row) {
    const bool is_known = std::ranges::find(names, name) != names.end();
    if (is_known && kArgumentRows[row].name == name) return static_cast<Argument>(row);
  }
  std::string all;
  for (const std::string_view known : names) all += (all.empty() ? "" : ", ") + std::string(known);
  return Status(StatusCode::invalid_argument, "events have no argument '" + name + "'" +
                                                  suggestion(name, names) + "; there are " + all);
}

}  // namespace

ValueType event_column_type(std::string_view name) {
  const auto* const column = std::ranges::find(kColumns, name, &ColumnKind::name);
  if (column != kColumns.end()) return column->type;
  const auto* const argument = std::ranges::find(kArgumentRows, name, &ArgumentRow::name);
  if (argument == kArgumentRows.end()) return ValueType::text;
  if (argument->type == ArgumentType::integer) return ValueType::integer;
  return argument->type == ArgumentType::real ? ValueType::number : ValueType::text;
}

std::vector<std::string_view> event_arguments() {
  std::vector<std::string_view> names;
  for (const ArgumentRow& row : kArgumentRows) {
    // Those of the group row are columns already, the others are of memory records.
    const bool is_of_events =
        row.group != ArgumentGroup::row && row.group != ArgumentGroup::allocations;
    if (is_of_events) names.push_back(row.name);
  }
  return names;
}

Result<std::shared_ptr<const TableData>> event_table(
    std::shared_ptr<const Trace> trace, const std::vector<std::string>& columns,
    const std::vector<std::string>& argument_names) {
  std::vector<const ColumnKind*> kinds;
  if (columns.empty()) {
    for (const ColumnKind& column : kColumns) kinds.push_back(&column);
  }
  for (const std::string& wanted : columns) {
    const auto* const found = std::ranges::find(kColumns, wanted, &ColumnKind::name);
    if (found == kColumns.end()) {
      std::string all;
      for (const ColumnKind& column : kColumns) {
        all += (all.empty() ? "" : ", ") + std::string(column.name);
      }
      return Status(StatusCode::invalid_argument,
                    "events have no column '" + wanted + "'; they have " + all);
    }
    kinds.push_back(found);
  }
  std::vector<Argument> arguments;
  for (const std::string& name : argument_names) {
    const Result<Argument> argument = argument_named(name);
    if (!argument.ok()) return argument.status();
    if (Status read = trace->check_read({*argument}, "events"); !read.ok()) return read;
    const bool is_new = std::ranges::find(kinds, name, &ColumnKind::name) == kinds.end() &&
                        std::ranges::find(arguments, *argument) == arguments.end();
    if (is_new) arguments.push_back(*argument);
  }
  return std::shared_ptr<const TableData>(
      std::make_shared<const EventTable>(std::move(trace), kinds, arguments));
}

}  // namespace tbtrace::python
