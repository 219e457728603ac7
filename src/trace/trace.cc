#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <tbtrace/trace.h>

#include "base/bounded_sum.h"
#include "base/characters.h"
#include "trace/call_tree.h"
#include "trace/links.h"
#include "trace/self_times.h"
#include "trace/trace_data.h"
#include "wire/json_tree.h"
#include "wire/json_values.h"

namespace tbtrace {
namespace {

/// Made by the first call on any thread; if that throws, by the next one. Not std::call_once():
/// an exception that passes through the C library's part of it ends a program that is out of
/// memory, since the library then loads its unwinder.
template <typename T>
class MadeOnce {
 public:
  template <typename... Parts>
  const T& get(const Parts&... parts) {
    if (!is_made_.load(std::memory_order_acquire)) {
      const std::lock_guard lock(mutex_);
      if (!value_) value_.emplace(parts...);
      is_made_.store(true, std::memory_order_release);
    }
    return *value_;
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> is_made_ = false;
  std::optional<T> value_;
};

}  // namespace

/// What is computed from the columns on first use.
struct Trace::Derived {
  std::array<ArgumentColumn, kArgumentCount> arguments;
  std::array<ArgumentColumn, kArgumentCount> memory_arguments;
  MadeOnce<CallTree> tree;
  MadeOnce<SelfTimes> self_times;
  MadeOnce<Links> links;
};

Trace::Trace(std::unique_ptr<const TraceData> data)
    : data_(std::move(data)),
      derived_(std::make_unique<Derived>()),
      tracks_(data_->tracks),
      categories_(data_->categories) {
  events_.start_ns_ = data_->start_ns.view();
  events_.duration_ns_ = data_->duration_ns.view();
  events_.name_ = data_->name.view();
  events_.track_ = data_->track.view();
  events_.category_ = data_->category.view();
  events_.flags_ = data_->flags.view();
  for (std::size_t row = 0; row < kArgumentCount; ++row) {
    derived_->arguments[row] = data_->arguments[row].view();
    derived_->memory_arguments[row] = data_->memory_arguments[row].view();
  }
}

Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(Trace&&) noexcept = default;
Trace::~Trace() = default;

std::string_view Trace::string(StringId id) const& {
  return data_->strings[static_cast<std::uint32_t>(id)];
}

std::span<const MemoryRecord> Trace::memory() const& { return data_->memory.view(); }
std::span<const FlowEnd> Trace::flows() const& { return data_->flows.view(); }
const ArgumentColumn& Trace::argument(Argument argument) const& {
  return derived_->arguments[index(argument)];
}
const ArgumentColumn& Trace::memory_argument(Argument argument) const& {
  return derived_->memory_arguments[index(argument)];
}
std::span<const Step> Trace::steps() const& { return data_->steps; }
std::span<const EventId> Trace::by_start() const& { return data_->by_start.view(); }

std::int64_t Trace::external_id(EventId event) const { return data_->external_id[index(event)]; }
std::int64_t Trace::correlation(EventId event) const { return data_->correlation[index(event)]; }
std::optional<DeviceType> Trace::device() const { return data_->device; }

std::int64_t Trace::base_time_ns() const { return data_->base_time_ns; }
std::int64_t Trace::first_time_ns() const { return data_->first_time_ns; }
std::int64_t Trace::window_start_ns() const { return data_->window_start_ns; }
std::int64_t Trace::window_end_ns() const { return data_->window_end_ns; }
bool Trace::has_window() const { return data_->has_window; }

const std::map<std::string, std::string, std::less<>>& Trace::metadata() const& {
  return data_->metadata;
}

std::string_view argument_group_name(ArgumentGroup group) {
  constexpr std::array<std::string_view, kArgumentGroups.size() + 1> kNames = {
      "row",    "autograd",        "inputs",      "strides",    "call_stacks", "modules",
      "python", "placement",       "launches",    "copies",     "graphs",      "collectives",
      "steps",  "synchronization", "allocations", "annotations"};
  return kNames[static_cast<std::size_t>(group)];
}

bool Trace::has_read(Argument argument) const { return data_->arguments_read.contains(argument); }

Status Trace::check_read(ArgumentSet needed, std::string_view what) const {
  const ArgumentSet missing = needed - data_->arguments_read;
  std::string groups;
  for (const ArgumentGroup group : kArgumentGroups) {
    if (!missing.contains_any({group})) continue;
    groups += (groups.empty() ? "" : ", ") + std::string(argument_group_name(group));
  }
  if (groups.empty()) return {};
  return {StatusCode::invalid_argument, std::string(what) +
                                            "() needs arguments that were not read (" + groups +
                                            "); read the trace with these groups in `arguments`"};
}

Status Trace::check_not_merged() const {
  const auto found = data_->metadata.find(kMergedRanks);
  const std::optional<wire::JsonTree> tree =
      found == data_->metadata.end() ? std::nullopt : wire::parse_json_tree(found->second);
  if (const wire::JsonTree* const parts =
          tree ? tree->find("parts", wire::JsonTree::Kind::list) : nullptr) {
    return {StatusCode::unreadable_input,
            "is a merged timeline of " + std::to_string(parts->items.size()) +
                " traces, in which steps, devices and totals of the ranks are mixed; it is made to "
                "be looked at: use the traces that it was made from"};
  }
  // Other tools do not mark a merged file. In a recording of one rank, a step has one process.
  std::unordered_map<std::int64_t, TrackKey> process_of_step;
  for (const Step& step : steps()) {
    const TrackKey& process = track(events().track(step.event)).process;
    const auto [first, is_new] = process_of_step.try_emplace(step.number, process);
    if (is_new || first->second == process) continue;
    return {StatusCode::unreadable_input,
            "has step " + std::to_string(step.number) +
                " in several processes, so it is a merge of several ranks' traces, in which steps, "
                "devices and totals of the ranks are mixed; use the traces that it was made from"};
  }
  return {};
}

bool Trace::is_set(std::string_view metadata_key) const {
  const auto found = data_->metadata.find(metadata_key);
  if (found == data_->metadata.end()) return false;
  // Tools that rewrite traces make texts of values, also Python's: "False".
  std::string_view value = found->second;
  if (value.size() >= 2 && value.starts_with('"') && value.ends_with('"')) {
    value = value.substr(1, value.size() - 2);
  }
  constexpr std::array<std::string_view, 6> kOff = {"0", "false", "null", "none", "no", "off"};
  return std::ranges::find(kOff, lower_case(value)) == kOff.end();
}

TraceIdentity Trace::identity() const {
  TraceIdentity identity;
  const auto distributed = data_->metadata.find("distributedInfo");
  if (distributed != data_->metadata.end()) {
    const auto count = [&](std::string_view key) {
      const auto number = wire::json_integer(distributed->second, key);
      return number && *number >= 0 ? number : std::nullopt;
    };
    identity.rank = count("rank");
    identity.world_size = count("world_size");
  }
  const auto host = data_->metadata.find("host_name");
  if (host != data_->metadata.end()) {
    identity.host = wire::json_text(host->second).value_or(host->second);
  }
  for (const EventId event : by_start()) {
    if (kind(event) != EventKind::cpu_op) continue;
    const TrackKey& process = track(events_.track(event)).process;
    identity.process =
        process.text == StringId::empty ? process.number_text() : std::string(string(process.text));
    break;
  }
  constexpr std::int64_t kYear2001 = 1'000'000'000'000'000'000;
  const std::int64_t base = base_time_ns();
  const std::int64_t start = bounded_sum(base, window_start_ns());
  if (start >= kYear2001) {
    identity.start_ns = start;
    identity.end_ns = bounded_sum(base, window_end_ns());
  }
  return identity;
}

const std::vector<Issue>& Trace::issues() const& { return data_->issues; }

const LinkReport& Trace::links() const& { return links_of(*this).report(); }

const CallTree& call_tree_of(const Trace& trace) {
  return DerivedOfTrace::get(trace).tree.get(trace);
}

const SelfTimes& self_times_of(const Trace& trace) {
  return DerivedOfTrace::get(trace).self_times.get(trace, call_tree_of(trace));
}

std::span<const Instant> instants_of(const Trace& trace) {
  return DerivedOfTrace::data(trace).instants;
}

std::span<const CounterValue> counter_values_of(const Trace& trace) {
  return DerivedOfTrace::data(trace).counter_values;
}

std::optional<PartTime> part_time_of(const Trace& trace) {
  return DerivedOfTrace::data(trace).part;
}

EventId event_in_part(const Trace& part, EventId event) {
  const TraceData& data = DerivedOfTrace::data(part);
  return event == EventId::none || !data.part ? event : data.in_part[index(event)];
}

const Links& links_of(const Trace& trace) {
  return DerivedOfTrace::get(trace).links.get(trace, call_tree_of(trace));
}

}  // namespace tbtrace
