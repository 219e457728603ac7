#include "jobs/merge/selection.h"

#include <algorithm>
#include <span>

#include "trace/categories.h"
#include "wire/json_values.h"

namespace tbtrace::jobs {
namespace {

bool is_of_device(EventKind kind) {
  return is_device_work(kind) || kind == EventKind::device_other ||
         kind == EventKind::gpu_user_annotation;
}

}  // namespace

Result<StepSelection> StepSelection::of(const Trace& trace, StepRange steps) {
  const std::span<const Step> all = trace.steps();
  if (all.empty()) {
    return Status(StatusCode::unreadable_input,
                  "has no steps (`ProfilerStep#N`), so none can be chosen; call prof.step() in the "
                  "training loop, or merge all steps");
  }
  StepSelection selection;
  bool has_any = false;
  for (const Step& step : all) {
    if (!steps.contains(step.number)) continue;
    const std::int64_t start = trace.events().start_ns(step.event);
    const std::int64_t end = trace.events().end_ns(step.event);
    selection.start_ns_ = has_any ? std::min(selection.start_ns_, start) : start;
    selection.end_ns_ = has_any ? std::max(selection.end_ns_, end) : end;
    has_any = true;
  }
  if (!has_any) {
    const auto [low, high] = std::ranges::minmax(
        all, [](std::int64_t a, std::int64_t b) { return a < b; }, &Step::number);
    return Status(StatusCode::unreadable_input, "has none of these steps; it has steps " +
                                                    std::to_string(low.number) + " to " +
                                                    std::to_string(high.number));
  }
  selection.choose(trace);
  selection.choose_flows(trace);
  return selection;
}

void StepSelection::choose(const Trace& trace) {
  const Events& events = trace.events();
  ranges_.resize(events.size());
  durations_.assign(events.durations_ns().begin(), events.durations_ns().end());
  std::unordered_set<std::int64_t> launches;
  std::unordered_set<std::int64_t> taken_launches;
  const auto overlaps = [&](EventId event) {
    const std::int64_t start = events.start_ns(event);
    return start < end_ns_ && (start >= start_ns_ || events.end_ns(event) > start_ns_);
  };
  for (std::size_t number = 0; number < events.size(); ++number) {
    const auto event = static_cast<EventId>(number);
    if (is_of_device(trace.kind(event))) continue;
    ranges_[number] = overlaps(event);
    const std::int64_t correlation = trace.correlation(event);
    if (trace.kind(event) != EventKind::runtime || correlation == 0) continue;
    launches.insert(correlation);
    if (ranges_[number]) taken_launches.insert(correlation);
  }
  for (std::size_t number = 0; number < events.size(); ++number) {
    const auto event = static_cast<EventId>(number);
    if (is_of_device(trace.kind(event))) {
      const std::int64_t correlation = trace.correlation(event);
      const bool is_launched = correlation != 0 && launches.contains(correlation);
      ranges_[number] = is_launched ? taken_launches.contains(correlation) : overlaps(event);
      if (is_launched && ranges_[number]) launched_.insert(correlation);
    }
  }
}

/// A flow that has lost an end would lead nowhere.
void StepSelection::choose_flows(const Trace& trace) {
  std::array<std::unordered_set<std::int64_t>, 3> outside;
  for (const FlowEnd& end : trace.flows()) {
    const auto type = static_cast<std::size_t>(end.type);
    (takes_time(end.time_ns) ? flows_ : outside)[type].insert(end.id);
  }
  for (std::size_t type = 0; type < outside.size(); ++type) {
    for (const std::int64_t id : outside[type]) flows_[type].erase(id);
  }
}

bool StepSelection::takes_flow(const FlowEnd& end) const {
  if (end.type == FlowEnd::Type::launch && launched_.contains(end.id)) return true;
  return flows_[static_cast<std::size_t>(end.type)].contains(end.id);
}

bool DeviceCategories::is_device(std::string_view json) {
  if (json == last_) return last_is_device_;
  auto found = known_.find(std::string(json));
  if (found == known_.end()) {
    const std::string name = wire::json_text(json).value_or(std::string());
    found = known_.emplace(json, is_of_device(meaning_of_category(name).kind)).first;
  }
  last_ = json;
  return last_is_device_ = found->second;
}

}  // namespace tbtrace::jobs
