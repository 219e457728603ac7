#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <proto/partial.pb.h>

#include "partials/message.h"
#include "partials/message_parts.h"
#include "partials/place_tables.h"
#include "partials/source_reports.h"
#include "report/optional_cell.h"
#include "report/table_columns.h"

namespace tbtrace::partials {
namespace {

constexpr int kMostFrames = 1000000;  // of the stacks that operators are grouped by

// Each takes what is right and says whether all was.

bool take_options(const proto::Partial& message, PartialOptions& options) {
  if (message.group_by_stack_n() < 0 || message.group_by_stack_n() > kMostFrames) return false;
  if (message.stack_source() > static_cast<std::uint32_t>(StackSource::either)) return false;
  if (message.parts() >> kPartCount != 0) return false;
  options.group_by_stack_n = message.group_by_stack_n();
  options.stack_source = static_cast<StackSource>(message.stack_source());
  for (unsigned part = 0; part < kPartCount; ++part) {
    options.parts.*kParts[part] = (message.parts() >> part & 1) != 0;
  }
  return true;
}

bool take_figures(const proto::PartialFigures& column, std::size_t figure, std::size_t rows,
                  std::size_t stride, std::vector<Figure>& figures) {
  const auto low = static_cast<std::size_t>(column.low_size());
  const auto high = static_cast<std::size_t>(column.high_size());
  if ((low != 0 && low != rows) || (high != 0 && (high != rows || low != rows))) return false;
  if (column.all_unknown()) return low == 0 && column.unknown_size() == 0;
  for (std::size_t row = 0; row < rows; ++row) {
    WideInteger value = 0;
    if (low != 0) value = column.low(static_cast<int>(row));
    if (high != 0) {
      value = WideInteger{column.high(static_cast<int>(row))} << 64 |
              static_cast<std::uint64_t>(column.low(static_cast<int>(row)));
    }
    figures[row * stride + figure] = value;
  }
  std::size_t row = 0;
  for (int unknown = 0; unknown < column.unknown_size(); ++unknown) {
    if (unknown > 0 && column.unknown(unknown) == 0) return false;
    row += column.unknown(unknown);
    if (row >= rows) return false;
    if (figures[row * stride + figure].value() != 0) return false;
    figures[row * stride + figure] = Figure();
  }
  return true;
}

bool take_durations(const proto::PartialDurations& message, std::size_t rows,
                    std::vector<report::DurationSketch>& durations) {
  if (static_cast<std::size_t>(message.buckets_size()) != rows ||
      message.steps_size() != message.counts_size()) {
    return false;
  }
  int next = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint32_t buckets = message.buckets(static_cast<int>(row));
    if (buckets > static_cast<std::uint32_t>(message.steps_size() - next)) return false;
    std::vector<report::DurationSketch::Count> counts;
    std::uint64_t bucket = 0;
    for (std::uint32_t number = 0; number < buckets; ++number, ++next) {
      bucket += message.steps(next);
      const bool is_next = number == 0 || message.steps(next) > 0;
      if (!is_next || bucket >= report::DurationSketch::bucket_count() ||
          message.counts(next) == 0) {
        return false;
      }
      counts.push_back({static_cast<std::uint32_t>(bucket), message.counts(next)});
    }
    durations.emplace_back(std::move(counts));
  }
  return next == message.steps_size();
}

bool take_table(const proto::PartialTable& message, std::span<const std::uint32_t> text_of,
                SumTable& table) {
  const TableShape& shape = table.shape();
  if (static_cast<std::size_t>(message.keys_size()) != shape.keys.size() ||
      static_cast<std::size_t>(message.figures_size()) != shape.figures.size() ||
      message.has_durations() != shape.has_durations) {
    return false;
  }
  const auto rows = static_cast<std::size_t>(message.keys(0).texts_size());
  if (rows == 0) return false;
  for (const proto::PartialKeys& column : message.keys()) {
    if (static_cast<std::size_t>(column.texts_size()) != rows) return false;
  }
  const std::size_t stride = shape.figures.size();
  std::vector<Figure> figures(rows * stride);
  for (std::size_t figure = 0; figure < stride; ++figure) {
    const proto::PartialFigures& column = message.figures(static_cast<int>(figure));
    if (!take_figures(column, figure, rows, stride, figures)) return false;
  }
  std::vector<report::DurationSketch> durations;
  if (shape.has_durations && !take_durations(message.durations(), rows, durations)) return false;
  const report::DurationSketch none;
  std::vector<std::uint32_t> places;
  std::vector<std::uint32_t> before;
  for (std::size_t row = 0; row < rows; ++row) {
    places.clear();
    for (const proto::PartialKeys& column : message.keys()) {
      places.push_back(column.texts(static_cast<int>(row)));
      if (places.back() >= text_of.size()) return false;
    }
    if (row > 0 && !(before < places)) return false;
    before = places;
    for (std::uint32_t& place : places) place = text_of[place];
    table.add(places, std::span(figures).subspan(row * stride, stride),
              shape.has_durations ? durations[row] : none);
  }
  return true;
}

bool take_stacks(const proto::PartialStacks& message, std::span<const std::uint32_t> text_of,
                 StackSums& stacks) {
  const int nodes = message.depths_size();
  if (message.frames_size() != nodes || nodes == 0) return false;
  const google::protobuf::RepeatedField<std::int64_t>* const weights[kWeightCount] = {
      &message.self_cpu_time_ns(), &message.self_device_time_ns(), &message.cpu_memory_bytes()};
  for (const auto* const weight : weights) {
    if (!weight->empty() && weight->size() != nodes) return false;
  }
  struct Open {
    std::uint32_t node;
    std::int64_t last_frame;  ///< of its children so far
  };
  std::vector<Open> way;
  for (int node = 0; node < nodes; ++node) {
    const std::uint32_t depth = message.depths(node);
    const std::uint32_t frame = message.frames(node);
    if ((depth == 0) != (node == 0) || depth > way.size() || frame >= text_of.size()) return false;
    way.resize(depth);
    std::uint32_t number = 0;
    if (node > 0) {
      if (way.back().last_frame >= frame) return false;
      way.back().last_frame = frame;
      number = stacks.child(way.back().node, text_of[frame]);
    } else if (text_of[frame] != 0) {
      return false;  // the root has no name
    }
    StackSums::Weights self = {};
    for (std::size_t weight = 0; weight < kWeightCount; ++weight) {
      if (!weights[weight]->empty()) self[weight] = weights[weight]->Get(node);
      if (self[weight] < 0) return false;
    }
    stacks.add(number, self);
    way.push_back({number, -1});
  }
  return true;
}

bool take_cells(const proto::PartialRow& message, std::vector<Cell>& cells) {
  for (const proto::PartialCell& cell : message.cells()) {
    Cell& value = cells.emplace_back();
    switch (cell.value_case()) {
      case proto::PartialCell::kFlag:
        value = cell.flag();
        break;
      case proto::PartialCell::kWhole:
        value = std::int64_t{cell.whole()};
        break;
      case proto::PartialCell::kCount:
        value = std::uint64_t{cell.count()};
        break;
      case proto::PartialCell::kReal:
        value = cell.real();
        break;
      case proto::PartialCell::kText:
        value = cell.text();
        break;
      case proto::PartialCell::kJson:
        value = Json{cell.json()};
        break;
      case proto::PartialCell::kList:
        value = std::vector<std::string>(cell.list().texts().begin(), cell.list().texts().end());
        break;
      case proto::PartialCell::VALUE_NOT_SET:
        break;
    }
  }
  return true;
}

/// Columns that versions 1 and 2 of the file called otherwise. What is a number now is read from
/// the name.
void rename_older_columns(AnalysisReport& report) {
  struct Renamed {
    std::string_view schema;
    std::string_view before;
    std::string_view now;
    std::string_view shown;
    std::string_view number;  // a column of its own before it; empty: none
  };
  constexpr Renamed kRenamed[] = {
      {"tbtrace.steps/1", "number", "step", "step", "number"},
      {"tbtrace.gpu/1", "stream", "stream_name", "stream", "stream"},
      {"tbtrace.memory/1", "device", "device_name", "device_name", "device"},
      {"tbtrace.memory/1", "line", "source_line", "source_line", ""}};
  for (const Renamed& one : kRenamed) {
    const auto column = report::column_named(report.table, one.before);
    if (report.schema != one.schema || !column) continue;
    report.table.columns[*column] = one.now;
    std::ranges::replace(report.shown, one.before, std::string(one.shown));
    if (one.number.empty()) continue;
    const auto place = static_cast<std::ptrdiff_t>(*column);
    report.table.columns.emplace(report.table.columns.begin() + place, one.number);
    for (std::vector<Cell>& cells : report.table.rows) {
      const auto* const name = std::get_if<std::string>(&cells[*column]);
      cells.insert(cells.begin() + place,
                   name == nullptr ? cells[*column] : report::device_cell(*name));
    }
  }
  const auto alive = report::column_named(report.table, "alive");
  for (std::vector<Cell>& cells : report.table.rows) {
    auto* const list = alive ? std::get_if<Json>(&cells[*alive]) : nullptr;
    constexpr std::string_view kBefore = "\"line\":";
    for (std::size_t at = 0;
         list != nullptr && (at = list->text.find(kBefore, at)) != std::string::npos;
         at += kBefore.size()) {
      list->text.replace(at, kBefore.size(), "\"source_line\":");
    }
  }
}

/// Columns that older versions of the file do not have, where `columns` has them; without values.
void add_newer_columns(const std::vector<std::string>& columns, AnalysisReport& report) {
  constexpr auto kNewer = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"tbtrace.gpu/1", "step"},
       {"tbtrace.gpu/1", "idle_cause"},
       {"tbtrace.gpu/1", "idle_cause_share"},
       {"tbtrace.gpu/1", "idle_causes"},
       {"tbtrace.steps/1", "idle_ns"},
       {"tbtrace.steps/1", "idle_causes"},
       {"tbtrace.steps/1", "kind"},
       {"tbtrace.steps/1", "requests"},
       {"tbtrace.steps/1", "tokens"}});
  for (std::size_t place = 0; place < columns.size(); ++place) {
    const bool is_newer =
        std::ranges::find(kNewer, std::pair<std::string_view, std::string_view>(
                                      report.schema, columns[place])) != kNewer.end();
    const bool is_there = !is_newer || place > report.table.columns.size() ||
                          report::column_named(report.table, columns[place]);
    if (is_there) continue;
    const auto at = static_cast<std::ptrdiff_t>(place);
    report.table.columns.emplace(report.table.columns.begin() + at, columns[place]);
    for (std::vector<Cell>& cells : report.table.rows) cells.emplace(cells.begin() + at);
  }
}

bool take_report(const proto::PartialReport& message, const AnalysisReport& empty,
                 AnalysisReport& report) {
  const std::vector<std::string>& columns = empty.table.columns;
  report.schema = message.schema();
  report.table.columns.assign(message.columns().begin(), message.columns().end());
  const std::size_t width = report.table.columns.size();
  report.shown.assign(message.shown().begin(), message.shown().end());
  report.notes.assign(message.notes().begin(), message.notes().end());
  report.totals_label = message.totals_label();
  report.joined_totals = empty.joined_totals;
  for (const proto::PartialRow& row : message.rows()) {
    std::vector<Cell>& cells = report.table.rows.emplace_back();
    if (!take_cells(row, cells) || cells.size() != width) return false;
  }
  if (report.table.columns != columns) {
    rename_older_columns(report);
    add_newer_columns(columns, report);
  }
  if (report.table.columns != columns) return false;
  std::vector<Cell> totals;
  if (!take_cells(message.totals(), totals)) return false;
  if (std::cmp_not_equal(totals.size(), message.total_names_size())) return false;
  for (std::size_t total = 0; total < totals.size(); ++total) {
    report.totals.emplace_back(message.total_names(static_cast<int>(total)),
                               std::move(totals[total]));
  }
  return true;
}

LinkReport links_in(const proto::PartialLinks& message) {
  LinkReport links;
  links.external_ids_valid = message.external_ids_valid();
  links.launch_by_correlation = message.launch_by_correlation();
  links.launch_by_flow = message.launch_by_flow();
  links.launch_unknown = message.launch_unknown();
  links.operator_by_flow = message.operator_by_flow();
  links.operator_by_external_id = message.operator_by_external_id();
  links.operator_by_containment = message.operator_by_containment();
  links.operator_unknown = message.operator_unknown();
  links.work_over_operator_limit = message.work_over_operator_limit();
  links.linked_ns = message.linked_ns();
  links.unlinked_ns = message.unlinked_ns();
  return links;
}

bool take_job_facts(const proto::PartialSource& message, PartialSource& source) {
  if (message.has_world_size()) source.world_size = message.world_size();
  source.backend = message.backend();
  if (message.has_start_ns()) source.start_ns = message.start_ns();
  if (message.has_base_time_ns()) source.base_time_ns = message.base_time_ns();
  if (message.has_events()) source.events = message.events();
  const std::string* before = nullptr;
  for (const proto::PartialVersion& one : message.versions()) {
    if (before != nullptr && !(*before < one.of())) return false;
    before = &one.of();
    source.versions[one.of()] = one.version();
  }
  return true;
}

bool take_source(const proto::PartialSource& message, Content& content) {
  if (!content.sources.empty() && !(content.sources.back().digest < message.digest())) return false;
  PartialSource& source = content.sources.emplace_back();
  source.digest = message.digest();
  source.name = message.name();
  if (message.has_rank()) source.rank = message.rank();
  source.host = message.host();
  source.process = message.process();
  if (!take_job_facts(message, source)) return false;
  SourceContent& of_source = content.of_sources.emplace_back();
  for (const proto::PartialIssue& issue : message.issues()) {
    if (!of_source.report.issues.try_emplace(issue.id(), issue.count()).second) return false;
  }
  of_source.report.links = links_in(message.links());
  const std::size_t most = content.options.parts.reports ? source_tables().size() : 0;
  if (std::cmp_greater(message.reports_size(), most)) return false;
  for (const proto::PartialReport& report : message.reports()) {
    const AnalysisReport& empty = source_tables()[of_source.reports.size()].empty;
    if (!take_report(report, empty, of_source.reports.emplace_back())) return false;
  }
  if (message.has_rank_record() != content.options.parts.ranks) return false;
  return !message.has_rank_record() || take_rank(message.rank_record(), of_source.rank.emplace());
}

bool take_tables(const proto::Partial& message, std::span<const std::uint32_t> text_of,
                 Content& content) {
  std::optional<TableId> before;
  for (const proto::PartialTable& table : message.tables()) {
    const std::optional<TableId> id = table_named(table.name());
    if (!id || (before && *before >= *id)) return false;
    before = id;
    if (!take_table(table, text_of, content.table(*id))) return false;
  }
  return has_whole_chains(content);
}

bool take_all(const proto::Partial& message, Content& content) {
  std::vector<std::uint32_t> text_of;
  const std::string* before = nullptr;
  for (const std::string& text : message.texts()) {
    if (before != nullptr && !(*before < text)) return false;
    before = &text;
    text_of.push_back(content.texts.intern(text));
  }
  for (const proto::PartialSource& source : message.sources()) {
    if (!take_source(source, content)) return false;
  }
  content.operator_groupings = message.operator_groupings();
  return content.operator_groupings < 8 && take_tables(message, text_of, content) &&
         take_stacks(message.stacks(), text_of, content.stacks);
}

}  // namespace

Result<std::unique_ptr<Content>> content_in(std::string_view message_bytes) {
  const Status wrong(StatusCode::unreadable_input,
                     "the partial is not as tbtrace writes it; make it again from its trace");
  if (message_bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return wrong;
  proto::Partial message;
  PartialOptions options;
  if (!message.ParseFromArray(message_bytes.data(), static_cast<int>(message_bytes.size())) ||
      !take_options(message, options)) {
    return wrong;
  }
  auto content = std::make_unique<Content>(options);
  if (!take_all(message, *content)) return wrong;
  return content;
}

}  // namespace tbtrace::partials
