#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tbtrace/analyses.h>
#include <tbtrace/profile_summaries.h>
#include <tbtrace/step_breakdown.h>
#include <tbtrace/writers.h>

#include "dialects/profile_tables.h"

namespace tbtrace {
namespace {

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

}  // namespace

void ProfileSummaries::add(const Trace& trace) {
  if (traces_++ == 0) add_once(trace);
  add_steps(trace);
  add_tables(trace);
  add_durations(trace);
  if (options_.flame_graphs) add_flame_graphs(trace);
}

void ProfileSummaries::add_once(const Trace& trace) {
  writer_.add_custom_scalars(layout());
  SummaryWriter::HParams hparams;
  const TraceIdentity identity = trace.identity();
  if (identity.rank) hparams.emplace_back("rank", *identity.rank);
  if (!identity.host.empty()) hparams.emplace_back("host", identity.host);
  for (const char* const key : {"record_shapes", "profile_memory", "with_stack", "with_flops"}) {
    if (const auto found = trace.metadata().find(key); found != trace.metadata().end())
      hparams.emplace_back(key, found->second != "0" && found->second != "false");
  }
  if (!hparams.empty()) writer_.add_hparams(hparams, {}, ".");
}

void ProfileSummaries::add_steps(const Trace& trace) {
  const StepBreakdown breakdown = step_breakdown(trace, {.keep_tail_steps = true});
  if (breakdown.steps.empty()) {
    ++last_step_;
    return;
  }
  const std::int64_t moved = std::max<std::int64_t>(0, last_step_ + 1 - breakdown.steps[0].number);
  for (const StepTime& step : breakdown.steps) {
    last_step_ = std::max(last_step_ + 1, step.number + moved);
    const auto add = [&](std::string_view tag, double value) {
      writer_.add_scalar(tag, value, last_step_);
    };
    add("profile/step_time_ms", static_cast<double>(step.length_ns()) / kNsOfMs);
    for (std::size_t role = 0; role < kStepRoles; ++role) {
      add(fmt::format("profile/step_part/{}_ms", step_role_name(static_cast<StepRole>(role))),
          static_cast<double>(step.role_ns[role]) / kNsOfMs);
    }
    for (std::size_t device = 0; device < breakdown.devices.size(); ++device) {
      add(fmt::format("profile/gpu{}/busy_pct", breakdown.devices[device]),
          100 * step.utilization(device));
    }
    for (std::size_t device = 0; device < breakdown.memory_devices.size(); ++device) {
      if (!step.peak_memory_bytes[device]) continue;
      add(memory_tag(breakdown.memory_devices[device]),
          static_cast<double>(*step.peak_memory_bytes[device]) / kBytesOfMib);
    }
  }
  writer_.add_text("profile/steps", dialects::step_markdown(breakdown, options_.table_rows),
                   last_step_);
}

void ProfileSummaries::add_tables(const Trace& trace) {
  const std::pair<const char*, std::string> tables[] = {
      {"profile/operators", dialects::operator_markdown(trace, options_.table_rows)},
      {"profile/kernels", dialects::kernel_markdown(trace, options_.table_rows)},
      {"profile/memory", dialects::memory_markdown(trace, options_.table_rows)}};
  for (const auto& [tag, text] : tables) {
    if (!text.empty()) writer_.add_text(tag, text, last_step_);
  }
}

void ProfileSummaries::add_durations(const Trace& trace) {
  // Their lengths differ by powers of ten, which an axis of TensorBoard's cannot show.
  std::vector<double> operators;
  std::vector<double> kernels;
  for (const EventId event : trace.by_start()) {
    const EventKind kind = trace.kind(event);
    if (kind != EventKind::cpu_op && kind != EventKind::kernel) continue;
    const std::int64_t ns = trace.events().duration_ns(event);
    if (ns <= 0) continue;
    (kind == EventKind::kernel ? kernels : operators)
        .push_back(std::log10(static_cast<double>(ns) / 1e3));
  }
  // From 1 ns to 1000 s, ten buckets for a power of ten.
  std::vector<double> edges;
  for (int tenth = -30; tenth <= 90; ++tenth) edges.push_back(tenth / 10.0);
  const std::pair<const char*, std::vector<double>&> all[] = {
      {"profile/log10_operator_us", operators}, {"profile/log10_kernel_us", kernels}};
  for (const auto& [tag, values] : all) {
    if (!values.empty()) {
      writer_.add_histogram(tag, std::span<const double>(values), last_step_, {.edges = edges});
    }
  }
}

void ProfileSummaries::add_flame_graphs(const Trace& trace) {
  for (const char* const weight : {"self_cpu_time_total", "self_device_time_total"}) {
    const Result<StackTree> stacks = flame_graph(trace, {.weight = weight});
    if (!stacks.ok() || stacks->total() == 0) continue;
    const bool is_cpu = std::string_view(weight) == "self_cpu_time_total";
    const Result<std::string> png =
        flame_graph_png(*stacks, {.title = is_cpu ? "CPU time" : "Device time"});
    if (png.ok())
      writer_.add_image(is_cpu ? "profile/flame_graph" : "profile/device_flame_graph",
                        std::string_view(*png), last_step_);
  }
}

}  // namespace tbtrace
