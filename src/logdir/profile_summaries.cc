#include "logdir/profile_summaries.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tbtrace/flame_graph.h>
#include <tbtrace/operators.h>
#include <tbtrace/summary.h>

#include "chrome/plugin/row_writer.h"
#include "logdir/findings_card.h"
#include "logdir/profile_tables.h"
#include "trace/step_names.h"
#include "writers/events/records.h"

namespace tbtrace::logdir {
namespace {

using writers::SummaryMoment;
using writers::SummaryRecords;

constexpr double kNsOfMs = 1e6;
constexpr double kBytesOfMib = 1 << 20;
constexpr std::size_t kRows = 50;  // per table; TensorBoard takes a second for 3000
// A card of the Images tab shows a picture 350 px wide, whatever its own width.
constexpr int kCardWidth = 350;
constexpr int kCardScale = 4;  // at "actual size" and on sharp screens
constexpr int kCardNames = 10;

/// With one GPU per rank the tag has no number, so that all ranks share it: a TensorBoard chart
/// shows one tag for all runs.
std::string utilization_tag(const StepBreakdown& breakdown, std::size_t device) {
  return breakdown.devices.size() == 1
             ? "profile/gpu/utilization_pct"
             : fmt::format("profile/gpu{}/utilization_pct", breakdown.devices[device]);
}

/// The same for memory, by device type.
std::string memory_tag(const StepBreakdown& breakdown, const StepMemoryDevice& device) {
  std::string name = device.type == DeviceType::cuda ? "gpu" : device_type_key(device.type);
  const auto has_type = [&](const StepMemoryDevice& each) { return each.type == device.type; };
  if (std::count_if(breakdown.memory_devices.begin(), breakdown.memory_devices.end(), has_type) >
      1) {
    name += std::to_string(device.id);
  }
  return fmt::format("profile/memory/{}/peak_mib", name);
}

std::vector<CustomCategory> layout(const StepBreakdown& breakdown) {
  const auto chart = [](const char* title, const char* tags) {
    return CustomChart{title, CustomChart::Kind::multiline, {tags}};
  };
  CustomCategory category = {"Profile", {chart("Step time (ms)", R"(profile/step_time_ms$)")}};
  // Several runs have their lines in one chart, so each has few parts.
  if (!breakdown.devices.empty()) {
    category.charts.push_back(
        chart("Parts of a step on the GPU (ms)",
              R"(profile/step_part/(kernel|memcpy|memset|communication)_ms$)"));
  }
  category.charts.push_back(chart("Parts of a step on the host (ms)",
                                  R"(profile/step_part/(runtime|data_loader|cpu_op|other)_ms$)"));
  if (!breakdown.devices.empty()) {
    category.charts.push_back(
        chart("GPU utilization (%)", R"(profile/gpu(-?\d+)?/utilization_pct$)"));
  }
  if (!breakdown.memory_devices.empty()) {
    category.charts.push_back(chart("Memory peaks (MiB)", R"(profile/memory/.*/peak_mib$)"));
  }
  return {category};
}

void add_hparams(SummaryRecords& text, SummaryMoment moment, const Trace& trace) {
  SummaryWriter::HParams hparams;
  const TraceIdentity identity = trace.identity();
  // As texts: TensorBoard shows a number as 3.0000.
  if (identity.rank) hparams.emplace_back("rank", std::to_string(*identity.rank));
  if (identity.world_size) hparams.emplace_back("world_size", std::to_string(*identity.world_size));
  if (!identity.host.empty()) hparams.emplace_back("host", identity.host);
  for (const char* const key : {"record_shapes", "profile_memory", "with_stack", "with_flops"}) {
    if (trace.metadata().contains(key)) hparams.emplace_back(key, trace.is_set(key));
  }
  if (!hparams.empty()) text.add_hparams(moment, hparams);
}

void add_step(SummaryRecords& text, SummaryMoment moment, const StepBreakdown& breakdown,
              std::span<const StepRole> roles, const StepTime& step) {
  text.add_scalar(moment, "profile/step_time_ms",
                  static_cast<double>(step.duration_ns()) / kNsOfMs);
  for (const StepRole role : roles) {
    text.add_scalar(moment, fmt::format("profile/step_part/{}_ms", step_role_name(role)),
                    static_cast<double>(step.ns(role)) / kNsOfMs);
  }
  for (std::size_t device = 0; device < breakdown.devices.size(); ++device) {
    text.add_scalar(moment, utilization_tag(breakdown, device), 100 * step.utilization(device));
  }
  for (std::size_t device = 0; device < breakdown.memory_devices.size(); ++device) {
    if (!step.peak_memory_bytes[device]) continue;
    text.add_scalar(moment, memory_tag(breakdown, breakdown.memory_devices[device]),
                    static_cast<double>(*step.peak_memory_bytes[device]) / kBytesOfMib);
  }
}

void add_durations(SummaryRecords& text, SummaryMoment moment, const Trace& trace) {
  // Durations differ by powers of ten, which TensorBoard's axis cannot show.
  std::vector<double> operators;
  std::vector<double> kernels;
  for (const EventId event : trace.by_start()) {
    const EventKind kind = trace.kind(event);
    const std::int64_t ns = trace.events().duration_ns(event);
    const bool is_operator =
        kind == EventKind::cpu_op && !is_step_name(trace.name(event));  // steps of 2020 and 2021
    if (ns <= 0 || (!is_operator && kind != EventKind::kernel)) continue;
    (kind == EventKind::kernel ? kernels : operators)
        .push_back(std::log10(static_cast<double>(ns) / 1e3));
  }
  // From 1 ns to 1000 s, ten buckets per power of ten.
  std::vector<double> edges;
  for (int tenth = -30; tenth <= 90; ++tenth) edges.push_back(tenth / 10.0);
  if (!operators.empty()) {
    text.add_histogram(moment, "profile_durations/log10_operator_us", operators, edges);
  }
  if (!kernels.empty())
    text.add_histogram(moment, "profile_durations/log10_kernel_us", kernels, edges);
}

}  // namespace

bool keeps_details(std::int64_t window) {
  if (window <= 5) return true;
  while (window % 10 == 0) window /= 10;
  return window == 1 || window == 3;
}

ProfileSummaries::ProfileSummaries(const Trace& trace, bool infer_steps)
    : trace_(trace),
      breakdown_(step_breakdown(trace, {.keep_tail_steps = true, .infer_steps = infer_steps})),
      has_steps_(breakdown_.has_steps()) {}

std::int64_t ProfileSummaries::place_at(std::int64_t first_step) {
  // JavaScript distinguishes integers up to twice this number. Beyond it, each step comes directly
  // after the previous one.
  constexpr std::int64_t kMost = std::int64_t{1} << 52;
  std::int64_t next = std::clamp<std::int64_t>(first_step, 0, 2 * kMost);
  steps_.clear();
  moved_ = 0;
  std::int64_t moved_by = 0;
  for (const StepTime& step : breakdown_.steps) {
    const bool is_number = step.number >= 0 && step.number <= kMost;
    if (steps_.empty() && is_number) moved_by = std::max<std::int64_t>(0, next - step.number);
    const std::int64_t wanted = is_number ? step.number + moved_by : next;
    steps_.push_back(wanted <= kMost ? std::max(next, wanted) : next);
    if (has_steps_ && steps_.back() != step.number) ++moved_;
    next = steps_.back() + 1;
  }
  if (steps_.empty()) steps_.push_back(next++);
  return next;
}

double ProfileSummaries::wall_time(std::int64_t time_ns) const {
  return static_cast<double>(chrome::unix_ns(trace_, time_ns)) / 1e9;
}

double ProfileSummaries::start() const { return wall_time(trace_.window_start_ns()); }

std::string ProfileSummaries::about_run() const {
  SummaryRecords text;
  const SummaryMoment moment = {start(), 0};
  text.add_layout(moment, layout(breakdown_));
  add_hparams(text, moment, trace_);
  return text.records();
}

std::string ProfileSummaries::steps() const {
  SummaryRecords text;
  const std::vector<StepRole> roles = shown_roles(breakdown_);
  for (std::size_t step = 0; step < breakdown_.steps.size(); ++step) {
    const StepTime& time = breakdown_.steps[step];
    add_step(text, {wall_time(time.end_ns), steps_[step]}, breakdown_, roles, time);
  }
  return text.records();
}

std::string ProfileSummaries::covered_steps() const {
  if (!has_steps_) return "The whole recording, without steps";
  const auto name = [](const StepTime& step) {
    return step.number >= 0 ? std::to_string(step.number) : step.name;
  };
  const std::vector<StepTime>& steps = breakdown_.steps;
  std::string covered =
      steps.size() == 1 ? "Step " + name(steps.front())
                        : fmt::format("Steps {} to {}", name(steps.front()), name(steps.back()));
  // Numbers may be missing, repeated, or go back.
  bool in_a_row = true;
  for (std::size_t at = 1; at < steps.size(); ++at) {
    in_a_row = in_a_row && steps[at - 1].number < std::numeric_limits<std::int64_t>::max() &&
               steps[at].number == steps[at - 1].number + 1;
  }
  if (!in_a_row) covered += fmt::format(" ({} steps)", steps.size());
  return covered;
}

ProfileDetails ProfileSummaries::details() const {
  ProfileDetails details;
  details.moment_ = {wall_time(trace_.window_end_ns()), steps_.back()};
  SummaryRecords text;
  const OperatorSummary operators = exact_operator_summary(trace_);
  const std::string covered = covered_steps();
  const CardOptions card = {.heading = covered, .rows = kRows};
  // TensorBoard sorts the cards by their tags, so that findings come first.
  const std::pair<const char*, std::string> cards[] = {
      {"profile/findings", findings_card(trace_summary(trace_, {}, {.threads = 1}), covered)},
      {"profile/steps", step_card(breakdown_, card)},
      {"profile/operators", operator_card(operators, card)},
      {"profile/kernels", kernel_card(trace_, card)},
      {"profile/memory", memory_card(operators, card)}};
  for (const auto& [tag, markdown] : cards) {
    if (!markdown.empty()) text.add_text(details.moment_, tag, markdown);
  }
  add_durations(text, details.moment_, trace_);
  details.tables_ = text.records();
  const auto add_picture = [&](const char* weight, const char* tag, const char* title) {
    Result<StackTree> stacks = flame_graph(trace_, {.weight = weight});
    if (stacks.ok() && stacks->total() > 0) {
      details.pictures_.push_back({tag, title, covered, *std::move(stacks)});
    }
  };
  add_picture("self_cpu_time_total", "profile_flame_graph/cpu", "CPU time");
  add_picture("self_device_time_total", "profile_flame_graph/device", "Device time");
  return details;
}

std::string ProfileDetails::records() const {
  SummaryRecords text;
  for (const Picture& picture : pictures_) {
    const Result<std::string> png = flame_graph_png(picture.stacks, {.title = picture.title,
                                                                     .subtitle = picture.covered,
                                                                     .width = kCardWidth,
                                                                     .scale = kCardScale,
                                                                     .names_below = kCardNames});
    // Without cairo there are no pictures. Running out of memory is not a reason to omit them.
    if (png.status().code() == StatusCode::out_of_memory) throw std::bad_alloc();
    if (png.ok()) text.add_image(moment_, picture.tag, *png);
  }
  return tables_ + text.records();
}

}  // namespace tbtrace::logdir
