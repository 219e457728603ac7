#include "partials/operator_tables.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "analyses/grouping/stacks.h"
#include "analyses/operators/exact_rows.h"
#include "partials/key_number.h"
#include "report/duration.h"

namespace tbtrace::partials {
namespace {

using analyses::ExactParts;
using report::duration_of_ns;

constexpr std::string_view kWindow = "window_ns";
constexpr std::string_view kUseDevice = "use_device";
constexpr std::string_view kProfileMemory = "profile_memory";
constexpr std::string_view kWithFlops = "with_flops";
constexpr std::string_view kUnattributedTime = "unattributed_device_ns";
constexpr std::string_view kUnattributedCpu = "unattributed_cpu_bytes";
constexpr std::string_view kUnattributedDevice = "unattributed_device_bytes";

/// The grouping of each table is in the bits of its place after the first.
constexpr unsigned kByOverload = 1;
constexpr unsigned kByShape = 2;
constexpr unsigned kByStack = 4;
constexpr unsigned kOperatorGroupings = 8;

TableId table_of(unsigned grouping) {
  return static_cast<TableId>(index(TableId::operators) + grouping);
}

SummaryOptions options_of(unsigned grouping, const PartialOptions& partial) {
  SummaryOptions options;
  options.group_by_overload_name = (grouping & kByOverload) != 0;
  options.group_by_input_shape = (grouping & kByShape) != 0;
  options.group_by_stack_n = (grouping & kByStack) != 0 ? partial.group_by_stack_n : 0;
  options.stack_source = partial.stack_source;
  return options;
}

/// What analyses::joined() made one text of: each frame is followed by a zero byte.
std::vector<std::string> frames_of(std::string_view text) {
  std::vector<std::string> frames;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    frames.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return frames;
}

void add_row(Content& content, TableId table, const OperatorRow& row, std::uint32_t first) {
  std::array<Figure, kOperatorFigures> figures;
  figures[kOperatorKind] = static_cast<WideInteger>(row.kind);
  figures[kOperatorHasParent] = WideInteger{row.has_cpu_parent ? 1 : 0};
  figures[kOperatorFirst] = WideInteger{first};
  figures[kOperatorCount] = WideInteger{row.count};
  figures[kOperatorCpuTotal] = WideInteger{row.cpu_time_total.ns};
  figures[kOperatorCpuSelf] = WideInteger{row.self_cpu_time_total.ns};
  figures[kOperatorDeviceTotal] = WideInteger{row.device_time_total.ns};
  figures[kOperatorDeviceSelf] = WideInteger{row.self_device_time_total.ns};
  figures[kOperatorCpuMemory] = WideInteger{row.cpu_memory_usage_bytes};
  figures[kOperatorCpuMemorySelf] = WideInteger{row.self_cpu_memory_usage_bytes};
  figures[kOperatorDeviceMemory] = WideInteger{row.device_memory_usage_bytes};
  figures[kOperatorDeviceMemorySelf] = WideInteger{row.self_device_memory_usage_bytes};
  figures[kOperatorFlops] = WideInteger{row.flops};
  content.add(table,
              {row.key, std::to_string(static_cast<int>(row.device_type)),
               row.is_user_annotation ? "1" : "0", row.overload_name, row.input_shapes,
               analyses::joined(row.stack)},
              figures);
}

OperatorRow row_of(const Content& content, const SumTable& table, std::size_t number) {
  const auto key = table.key(number);
  const auto figures = table.figures(number);
  OperatorRow row;
  row.key = content.text(key[0]);
  row.device_type =
      static_cast<DeviceType>(key_number<std::int16_t>(content.texts[key[1]]).value_or(0));
  row.is_user_annotation = content.texts[key[2]] == "1";
  row.overload_name = content.text(key[3]);
  row.input_shapes = content.text(key[4]);
  row.stack = frames_of(content.texts[key[5]]);
  row.kind = static_cast<OperatorKind>(std::clamp<std::int64_t>(
      figures[kOperatorKind].whole(), 0, static_cast<std::int64_t>(OperatorKind::other)));
  row.has_cpu_parent = figures[kOperatorHasParent].whole() != 0;
  row.count = figures[kOperatorCount].whole();
  row.cpu_time_total = duration_of_ns(figures[kOperatorCpuTotal].whole());
  row.self_cpu_time_total = duration_of_ns(figures[kOperatorCpuSelf].whole());
  row.device_time_total = duration_of_ns(figures[kOperatorDeviceTotal].whole());
  row.self_device_time_total = duration_of_ns(figures[kOperatorDeviceSelf].whole());
  row.cpu_memory_usage_bytes = figures[kOperatorCpuMemory].whole();
  row.self_cpu_memory_usage_bytes = figures[kOperatorCpuMemorySelf].whole();
  row.device_memory_usage_bytes = figures[kOperatorDeviceMemory].whole();
  row.self_device_memory_usage_bytes = figures[kOperatorDeviceMemorySelf].whole();
  row.flops = static_cast<std::uint64_t>(figures[kOperatorFlops].value());  // wraps, as torch's
  return row;
}

bool any_row(const ExactParts& parts, bool (*has)(const OperatorRow&)) {
  return std::ranges::any_of(parts.rows.rows, has);
}

/// The groupings that differ from a smaller one in this trace.
unsigned useful_groupings(const ExactParts& finest) {
  unsigned groupings = 0;
  if (any_row(finest, [](const OperatorRow& row) { return !row.overload_name.empty(); })) {
    groupings |= kByOverload;
  }
  if (any_row(finest, [](const OperatorRow& row) { return !row.input_shapes.empty(); })) {
    groupings |= kByShape;
  }
  if (any_row(finest, [](const OperatorRow& row) { return !row.stack.empty(); })) {
    groupings |= kByStack;
  }
  return groupings;
}

void add_facts(Content& content, const ExactParts& parts) {
  content.add_fact(kWindow, kFactSum, WideInteger{parts.window_ns});
  content.add_fact(kUnattributedTime, kFactSum, WideInteger{parts.unattributed.device_ns});
  content.add_fact(kUnattributedCpu, kFactSum, WideInteger{parts.unattributed.cpu_bytes});
  content.add_fact(kUnattributedDevice, kFactSum, WideInteger{parts.unattributed.device_bytes});
  content.add_fact(kProfileMemory, kFactMost, WideInteger{parts.rows.profile_memory ? 1 : 0});
  content.add_fact(kWithFlops, kFactMost, WideInteger{parts.rows.with_flops ? 1 : 0});
  if (parts.rows.use_device) {
    content.add_fact(kUseDevice, kFactLeast, static_cast<WideInteger>(*parts.rows.use_device));
  }
}

}  // namespace

void add_operators(Content& content, const Trace& trace, const std::string& digest) {
  const ExactParts finest =
      analyses::exact_parts(trace, options_of(kOperatorGroupings - 1, content.options));
  const unsigned useful = useful_groupings(finest);
  content.operator_groupings = useful;
  for (unsigned grouping = 0; grouping < kOperatorGroupings; ++grouping) {
    if ((grouping & ~useful) != 0) continue;
    const bool is_finest = grouping == kOperatorGroupings - 1;
    const ExactParts coarser =
        is_finest ? ExactParts()
                  : analyses::exact_parts(trace, options_of(grouping, content.options));
    const ExactParts& parts = is_finest ? finest : coarser;
    for (std::size_t row = 0; row < parts.rows.rows.size(); ++row) {
      add_row(content, table_of(grouping), parts.rows.rows[row], parts.first[row]);
    }
  }
  add_facts(content, finest);
  for (std::size_t number = 0; number < finest.threads.size(); ++number) {
    const ThreadTotal& thread = finest.threads[number];
    const Figure figures[] = {WideInteger{thread.self_cpu_time_total_ns},
                              WideInteger{thread.idle_ns}};
    content.add(TableId::threads,
                {thread.process, thread.thread, thread.name, digest + "." + std::to_string(number)},
                figures);
  }
}

bool is_operator_table(TableId table) {
  return table >= TableId::operators &&
         index(table) < index(TableId::operators) + kOperatorGroupings;
}

void merge_operators(Content& content, const Content& other,
                     std::span<const std::uint32_t> text_of) {
  const unsigned before = content.operator_groupings;
  std::vector<std::uint32_t> same_texts(content.texts.size());
  std::iota(same_texts.begin(), same_texts.end(), 0U);
  content.operator_groupings |= other.operator_groupings;
  // From the finest one on, because each may take the rows of a coarser one that it lacks.
  for (unsigned grouping = kOperatorGroupings; grouping-- > 0;) {
    if ((grouping & ~content.operator_groupings) != 0) continue;
    SumTable& table = content.table(table_of(grouping));
    if ((grouping & ~before) != 0)
      table.add(content.table(table_of(grouping & before)), same_texts);
    table.add(other.table(table_of(grouping & other.operator_groupings)), text_of);
  }
}

OperatorSummary operators_of(const Content& content, const SummaryOptions& options) {
  unsigned grouping = 0;
  if (options.group_by_overload_name) grouping |= kByOverload;
  if (options.group_by_input_shape) grouping |= kByShape;
  if (options.group_by_stack_n > 0) grouping |= kByStack;
  const SumTable& table = content.table(table_of(grouping & content.operator_groupings));
  ExactParts parts;
  for (std::size_t row = 0; row < table.size(); ++row) {
    parts.rows.rows.push_back(row_of(content, table, row));
    parts.first.push_back(static_cast<std::uint32_t>(table.figures(row)[kOperatorFirst].count()));
  }
  parts.rows.grouped_by_shape = options.group_by_input_shape;
  if (const Figure device = content.fact(kUseDevice, kFactLeast); device.is_known()) {
    parts.rows.use_device = static_cast<DeviceType>(device.whole());
  }
  parts.rows.profile_memory = content.fact(kProfileMemory, kFactMost).whole() != 0;
  parts.rows.with_flops = content.fact(kWithFlops, kFactMost).whole() != 0;
  parts.unattributed = {content.fact(kUnattributedTime, kFactSum).whole(),
                        content.fact(kUnattributedCpu, kFactSum).whole(),
                        content.fact(kUnattributedDevice, kFactSum).whole()};
  parts.window_ns = content.fact(kWindow, kFactSum).whole();
  const SumTable& threads = content.table(TableId::threads);
  for (std::size_t row = 0; row < threads.size(); ++row) {
    const auto key = threads.key(row);
    const auto figures = threads.figures(row);
    parts.threads.push_back({content.text(key[0]), content.text(key[1]), content.text(key[2]),
                             figures[kThreadSelf].whole(), figures[kThreadIdle].whole()});
  }
  parts.source = content.source_report();
  return analyses::exact_summary_of(std::move(parts));
}

}  // namespace tbtrace::partials
