#include "dialects/profile_events.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tbtrace/analyses.h>
#include <tbtrace/step_breakdown.h>
#include <tbtrace/writers.h>

#include "dialects/profile_tables.h"
#include "dialects/row_writer.h"
#include "writers/event_text.h"

namespace tbtrace::dialects {
namespace {

using writers::EventMoment;
using writers::EventText;

constexpr double kNsOfMs = 1e6;
constexpr double kBytesOfMib = 1 << 20;

std::string memory_tag(const StepMemoryDevice& device) {
  // c10::DeviceType: 0 is the CPU, 1 CUDA.
  const std::string type = device.type == 0   ? "cpu"
                           : device.type == 1 ? "cuda"
                                              : fmt::format("type{}_", device.type);
  return fmt::format("profile/memory/{}{}/peak_mib", type,
                     device.id < 0 ? "" : std::to_string(device.id));
}

std::vector<CustomCategory> layout() {
  using Kind = CustomChart::Kind;
  return {{"Profile",
           {{"Step time (ms)", Kind::multiline, {R"(profile/step_time_ms$)"}},
            {"Parts of a step (ms)", Kind::multiline, {R"(profile/step_part/.*)"}},
            {"GPU busy (%)", Kind::multiline, {R"(profile/gpu\d+/busy_pct$)"}},
            {"Memory peaks (MiB)", Kind::multiline, {R"(profile/memory/.*/peak_mib$)"}}}}};
}

/// Where the steps of a trace stand on the axis.
class Axis {
 public:
  Axis(const Trace& trace, std::int64_t first_step) : trace_(trace), last_(first_step - 1) {}

  /// The moment of a step that is known by its number; each is behind the one before.
  EventMoment step(std::int64_t number, std::int64_t time_ns) {
    if (!moved_) moved_ = std::max<std::int64_t>(0, last_ + 1 - number);
    last_ = std::max(last_ + 1, number + *moved_);
    return at(time_ns);
  }
  /// The last step, or one for the whole trace if there was none.
  EventMoment end() {
    if (!moved_) step(last_ + 1, 0);
    return at(trace_.window_end_ns());
  }

 private:
  EventMoment at(std::int64_t time_ns) const {
    return {static_cast<double>(unix_ns(trace_, time_ns)) / 1e9, last_};
  }

  const Trace& trace_;
  std::int64_t last_;
  std::optional<std::int64_t> moved_;
};

void add_hparams(EventText& text, EventMoment moment, const Trace& trace) {
  SummaryWriter::HParams hparams;
  const TraceIdentity identity = trace.identity();
  if (identity.rank) hparams.emplace_back("rank", *identity.rank);
  if (!identity.host.empty()) hparams.emplace_back("host", identity.host);
  for (const char* const key : {"record_shapes", "profile_memory", "with_stack", "with_flops"}) {
    const auto found = trace.metadata().find(key);
    if (found == trace.metadata().end()) continue;
    hparams.emplace_back(key, found->second != "0" && found->second != "false");
  }
  if (!hparams.empty()) text.add_hparams(moment, hparams);
}

void add_step(EventText& text, EventMoment moment, const StepBreakdown& breakdown,
              const StepTime& step) {
  text.add_scalar(moment, "profile/step_time_ms", static_cast<double>(step.length_ns()) / kNsOfMs);
  for (std::size_t role = 0; role < kStepRoles; ++role) {
    text.add_scalar(
        moment, fmt::format("profile/step_part/{}_ms", step_role_name(static_cast<StepRole>(role))),
        static_cast<double>(step.role_ns[role]) / kNsOfMs);
  }
  for (std::size_t device = 0; device < breakdown.devices.size(); ++device) {
    text.add_scalar(moment, fmt::format("profile/gpu{}/busy_pct", breakdown.devices[device]),
                    100 * step.utilization(device));
  }
  for (std::size_t device = 0; device < breakdown.memory_devices.size(); ++device) {
    if (!step.peak_memory_bytes[device]) continue;
    text.add_scalar(moment, memory_tag(breakdown.memory_devices[device]),
                    static_cast<double>(*step.peak_memory_bytes[device]) / kBytesOfMib);
  }
}

void add_durations(EventText& text, EventMoment moment, const Trace& trace) {
  // Lengths differ by powers of ten, which an axis of TensorBoard's cannot show.
  std::vector<double> operators;
  std::vector<double> kernels;
  for (const EventId event : trace.by_start()) {
    const EventKind kind = trace.kind(event);
    const std::int64_t ns = trace.events().duration_ns(event);
    if (ns <= 0 || (kind != EventKind::cpu_op && kind != EventKind::kernel)) continue;
    (kind == EventKind::kernel ? kernels : operators)
        .push_back(std::log10(static_cast<double>(ns) / 1e3));
  }
  // From 1 ns to 1000 s, ten buckets for a power of ten.
  std::vector<double> edges;
  for (int tenth = -30; tenth <= 90; ++tenth) edges.push_back(tenth / 10.0);
  if (!operators.empty()) {
    text.add_histogram(moment, "profile/log10_operator_us", operators, edges);
  }
  if (!kernels.empty()) text.add_histogram(moment, "profile/log10_kernel_us", kernels, edges);
}

void add_flame_graph(EventText& text, EventMoment moment, const Trace& trace, const char* weight,
                     const char* tag, const char* title) {
  const Result<StackTree> stacks = flame_graph(trace, {.weight = weight});
  if (!stacks.ok() || stacks->total() == 0) return;
  const Result<std::string> png = flame_graph_png(*stacks, {.title = title});
  if (png.ok()) text.add_image(moment, tag, *png);
}

}  // namespace

std::string profile_events(const Trace& trace, const ProfileEventOptions& options) {
  EventText text;
  Axis axis(trace, options.first_step);
  const StepBreakdown breakdown = step_breakdown(trace, {.keep_tail_steps = true});
  if (options.first_of_run) {
    const EventMoment start = {static_cast<double>(unix_ns(trace, trace.window_start_ns())) / 1e9,
                               0};
    text.add_layout(start, layout());
    add_hparams(text, start, trace);
  }
  for (const StepTime& step : breakdown.steps) {
    add_step(text, axis.step(step.number, step.end_ns), breakdown, step);
  }
  const EventMoment end = axis.end();
  const std::pair<const char*, std::string> tables[] = {
      {"profile/steps", step_markdown(breakdown, options.table_rows)},
      {"profile/operators", operator_markdown(trace, options.table_rows)},
      {"profile/kernels", kernel_markdown(trace, options.table_rows)},
      {"profile/memory", memory_markdown(trace, options.table_rows)}};
  for (const auto& [tag, markdown] : tables) {
    if (!markdown.empty()) text.add_text(end, tag, markdown);
  }
  add_durations(text, end, trace);
  if (options.flame_graphs) {
    add_flame_graph(text, end, trace, "self_cpu_time_total", "profile/flame_graph", "CPU time");
    add_flame_graph(text, end, trace, "self_device_time_total", "profile/device_flame_graph",
                    "Device time");
  }
  return text.records();
}

std::int64_t next_first_step(const Trace& trace, std::int64_t first_step) {
  Axis axis(trace, first_step);
  const StepBreakdown breakdown = step_breakdown(trace, {.keep_tail_steps = true});
  for (const StepTime& step : breakdown.steps) axis.step(step.number, step.end_ns);
  return axis.end().step + 1;
}

}  // namespace tbtrace::dialects
