#include "analyses/gpu/report.h"

#include <cstdint>
#include <optional>
#include <string>

#include <tbtrace/device.h>

#include "analyses/attribution/work_times.h"
#include "base/share.h"
#include "report/source_report.h"
#include "report/table_list.h"
#include "report/totals.h"
#include "report/typed_columns.h"
#include "wire/json_emitter.h"

namespace tbtrace {
namespace {

struct GpuRow : GpuUse {
  std::optional<std::int64_t> rank;
  std::optional<Json> causes;  // of a device
};

std::optional<std::int64_t> stream_of(const GpuRow& row) { return number_in_name(row.stream); }

std::optional<std::string> stream_name_of(const GpuRow& row) {
  return row.stream.empty() ? std::nullopt : std::optional(row.stream);
}

std::optional<double> bandwidth_of(const GpuRow& row) {
  if (row.copy_ns == 0) return std::nullopt;
  return static_cast<double>(row.copied_bytes) * 1e9 / static_cast<double>(row.copy_ns);
}

std::optional<std::string_view> main_cause_of(const GpuRow& row) {
  if (row.idle_causes.empty()) return std::nullopt;
  return idle_cause_name(row.idle_causes.front().cause);
}

std::optional<double> main_cause_share_of(const GpuRow& row) {
  if (row.idle_causes.empty()) return std::nullopt;
  return share(row.idle_causes.front().ns, row.idle_ns);
}

using GpuColumn = report::TypedColumn<GpuRow>;
constexpr GpuColumn kColumns[] = {
    GpuColumn::of<&GpuRow::rank>("rank", "from `distributedInfo`", 1),
    GpuColumn::of<&GpuUse::device>("device", "the device's number: the process id of its streams",
                                   2),
    GpuColumn::of<&GpuUse::step>("step", "the step's number, of rows by step; null in others", 4),
    GpuColumn::of<stream_of>(
        "stream", "the stream's number: the one in `stream_name`; null in a row of a device", 3),
    GpuColumn::of<stream_name_of>(
        "stream_name",
        "the id of the stream's row in the file: `7`, `stream 7`; null in a "
        "row of a device"),
    GpuColumn::of<&GpuUse::window_ns>("window_ns", "length of the window", 5),
    GpuColumn::of<&GpuUse::busy_ns>("busy_ns", "at least one activity ran"),
    GpuColumn::of<&GpuUse::busy_share>("busy_share", "`busy_ns` / `window_ns`, 0 to 1", 6),
    GpuColumn::of<&GpuUse::computation_ns>("computation_ns",
                                           "at least one kernel ran that does not communicate", 10),
    GpuColumn::of<&GpuUse::communication_ns>("communication_ns",
                                             "at least one communication kernel ran"),
    GpuColumn::of<&GpuUse::memory_ns>("memory_ns", "at least one memcpy or memset ran"),
    GpuColumn::of<&GpuUse::overlap_ns>("overlap_ns", "computation and communication ran at once"),
    GpuColumn::of<&GpuUse::exposed_communication_ns>("exposed_communication_ns",
                                                     "communication ran, and no computation", 11),
    GpuColumn::of<&GpuUse::exposed_memory_ns>("exposed_memory_ns",
                                              "memcpys or memsets ran, and nothing else", 12),
    GpuColumn::of<&GpuUse::idle_ns>("idle_ns", "nothing ran", 7),
    GpuColumn::of<main_cause_of>(
        "idle_cause",
        "the [cause](../findings.md#why-a-gpu-is-idle) of most of the idle time; null without idle "
        "time and in rows of streams",
        8),
    GpuColumn::of<main_cause_share_of>("idle_cause_share", "its share of the idle time, 0 to 1", 9),
    GpuColumn::of<&GpuRow::causes>(
        "idle_causes",
        "all causes of the idle time, the largest first, which add up to it: objects with `cause`, "
        "`ns`, `share` of the idle time and `largest`, the largest part in a gap: `start_ns`, "
        "`duration_ns`, and where most of it was spent: `call`, `operator`, `line`; null in rows "
        "of "
        "streams"),
    GpuColumn::of<&GpuUse::idle_host_wait_ns>("idle_host_wait_ns",
                                              "HolisticTraceAnalysis' division: idle time before "
                                              "activities whose launch began in it"),
    GpuColumn::of<&GpuUse::idle_kernel_wait_ns>(
        "idle_kernel_wait_ns", "short idle times before activities that were launched in time"),
    GpuColumn::of<&GpuUse::idle_other_ns>("idle_other_ns", "any other idle time"),
    GpuColumn::of<&GpuUse::queue_length_mean>(
        "queue_length_mean",
        "activities that were launched and had not started, as a mean over the window; only "
        "activities whose launch is known"),
    GpuColumn::of<&GpuUse::queue_length_max>("queue_length_max", "the most of them at once"),
    GpuColumn::of<&GpuUse::activities>(
        "activities",
        "kernels, memcpys and memsets that run in the window, also those that began before it; "
        "[misplaced](check.md#misplaced-device-work) ones are left out"),
    GpuColumn::of<&GpuUse::launches>(
        "launches", "calls that launched them; a CUDA graph launch has many kernels"),
    GpuColumn::of<&GpuUse::short_kernels>(
        "short_kernels",
        "kernels that were the only activity of their launch call "
        "and took less time than the call"),
    GpuColumn::of<&GpuUse::copied_bytes>("copied_bytes",
                                         "by memcpys and memsets whose size is in the file"),
    GpuColumn::of<bandwidth_of>("copy_bandwidth_bytes_per_s",
                                "`copied_bytes` by the sum of their durations"),
};

Cell busy_share_of(const AnalysisReport::Totals& sums) {
  const auto ns = [&](std::string_view name) {
    const auto* const sum = std::get_if<std::int64_t>(report::total_named(sums, name));
    return sum == nullptr ? 0 : *sum;
  };
  return share(ns("busy_ns"), ns("window_ns"));
}

/// Windows of devices are different times of one device each.
using Total = report::TypedTotal<GpuUse>;
constexpr Total kTotals[] = {
    Total::sum_of<&GpuUse::window_ns>("window_ns"),
    Total::sum_of<&GpuUse::busy_ns>("busy_ns"),
    Total::sum_of<&GpuUse::idle_ns>("idle_ns"),
    {.description = {"busy_share", ValueType::number, false, "`busy_ns` / `window_ns`, 0 to 1"},
     .derive = busy_share_of},
};

}  // namespace

std::vector<ColumnDescription> analyses::gpu_columns() { return report::described(kColumns); }
std::vector<ColumnDescription> analyses::gpu_totals() { return report::described(kTotals); }

Json analyses::idle_causes_json(const std::vector<IdlePart>& parts, std::int64_t idle_ns) {
  Json causes;
  wire::JsonEmitter json(causes.text);
  const auto add_text = [&](std::string_view key, const std::string& text) {
    json.key(key);
    text.empty() ? json.null() : json.text(text);
  };
  json.begin_array();
  for (const IdlePart& part : parts) {
    json.begin_object();
    json.key("cause");
    json.text(idle_cause_name(part.cause));
    json.key("ns");
    json.integer(part.ns);
    json.key("share");
    json.number(share(part.ns, idle_ns));
    json.key("largest");
    json.begin_object();
    json.key("start_ns");
    json.integer(part.largest.start_ns);
    json.key("duration_ns");
    json.integer(part.largest.ns);
    add_text("call", part.largest.call);
    add_text("operator", part.largest.op);
    add_text("line", part.largest.line);
    json.end_object();
    json.end_object();
  }
  json.end_array();
  return causes;
}

void analyses::finish_gpu_report(const Trace& trace, const std::vector<GpuUse>& use,
                                 AnalysisReport& report) {
  report.schema = gpu_table().schema;
  report::set_totals<kTotals>(report, use);
  report.notes = work_time_notes(trace);
  report.source = report::source_report(trace);
}

Result<AnalysisReport> gpu_report(const Trace& trace, const GpuOptions& options) {
  if (Status read = trace.check_read(analyses::gpu_table().arguments, "gpu"); !read.ok()) {
    return read;
  }
  const Result<std::vector<GpuUse>> use = gpu_use(trace, options);
  if (!use.ok()) return use.status();
  std::vector<GpuRow> rows;
  for (const GpuUse& each : *use) {
    rows.push_back({each, trace.identity().rank, std::nullopt});
    if (each.stream.empty()) {
      rows.back().causes = analyses::idle_causes_json(each.idle_causes, each.idle_ns);
    }
  }
  AnalysisReport report;
  report::set_rows(report, kColumns, rows);
  analyses::finish_gpu_report(trace, *use, report);
  return report;
}

}  // namespace tbtrace
