#include <algorithm>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include <tbtrace/trace.h>

#include "base/decimal.h"
#include "trace/call_tree.h"
#include "trace/links.h"
#include "trace/self_times.h"
#include "trace/trace_data.h"

namespace tbtrace {
namespace {

/// A number in a `distributedInfo`: an object, or a string that holds one with escaped quotes. Its
/// groups have `ranks`, which may stand before `rank`.
std::optional<std::int64_t> number_in(std::string_view distributed, const std::string& name) {
  for (const std::string& key : {"\"" + name + "\"", "\\\"" + name + "\\\""}) {
    const std::size_t found = distributed.find(key);
    if (found == std::string_view::npos) continue;
    std::string_view value = distributed.substr(found + key.size());
    value.remove_prefix(std::min(value.find_first_not_of(" :\"\\"), value.size()));
    return parse_integer(value.substr(0, value.find_first_not_of("0123456789")));
  }
  return std::nullopt;
}

}  // namespace

/// What is made from the columns when somebody asks for it.
struct Trace::Derived {
  std::once_flag tree_made;
  std::optional<CallTree> tree;
  std::once_flag self_times_made;
  std::optional<SelfTimes> self_times;
  std::once_flag links_made;
  std::optional<Links> links;
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
}

Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(Trace&&) noexcept = default;
Trace::~Trace() = default;

std::string_view Trace::string(StringId id) const {
  return data_->strings[static_cast<std::uint32_t>(id)];
}

std::span<const MemoryRecord> Trace::memory() const { return data_->memory.view(); }
std::span<const FlowEnd> Trace::flows() const { return data_->flows.view(); }
std::span<const OperatorInputs> Trace::inputs() const { return data_->inputs.view(); }
std::span<const AutogradInfo> Trace::autograd() const { return data_->autograd.view(); }
std::span<const CallStack> Trace::call_stacks() const { return data_->call_stacks.view(); }
std::span<const Step> Trace::steps() const { return data_->steps; }
std::span<const EventId> Trace::by_start() const { return data_->by_start.view(); }

std::int64_t Trace::external_id(EventId event) const { return data_->external_id[index(event)]; }
std::int64_t Trace::correlation(EventId event) const { return data_->correlation[index(event)]; }
std::optional<DeviceType> Trace::device() const { return data_->device; }

std::int64_t Trace::base_time_ns() const { return data_->base_time_ns; }
std::int64_t Trace::first_time_ns() const { return data_->first_time_ns; }
std::int64_t Trace::window_start_ns() const { return data_->window_start_ns; }
std::int64_t Trace::window_end_ns() const { return data_->window_end_ns; }
bool Trace::has_window() const { return data_->has_window; }

const std::map<std::string, std::string, std::less<>>& Trace::metadata() const {
  return data_->metadata;
}

bool Trace::is_set(std::string_view metadata_key) const {
  const auto found = data_->metadata.find(metadata_key);
  if (found == data_->metadata.end()) return false;
  return found->second != "0" && found->second != "false" && found->second != "null";
}

TraceIdentity Trace::identity() const {
  TraceIdentity identity;
  const auto distributed = data_->metadata.find("distributedInfo");
  if (distributed != data_->metadata.end()) {
    identity.rank = number_in(distributed->second, "rank");
    identity.world_size = number_in(distributed->second, "world_size");
  }
  const auto host = data_->metadata.find("host_name");
  if (host != data_->metadata.end()) {
    std::string_view name = host->second;
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') {
      name = name.substr(1, name.size() - 2);
    }
    identity.host = name;
  }
  for (const EventId event : by_start()) {
    if (kind(event) != EventKind::cpu_op) continue;
    const TrackKey& process = track(events_.track(event)).process;
    identity.process = process.text == StringId::empty ? std::to_string(process.number)
                                                       : std::string(string(process.text));
    break;
  }
  return identity;
}

const std::vector<Issue>& Trace::issues() const { return data_->issues; }

const CallTree& Trace::call_tree() const {
  std::call_once(derived_->tree_made, [this] { derived_->tree.emplace(*this); });
  return *derived_->tree;
}

const SelfTimes& Trace::self_times() const {
  std::call_once(derived_->self_times_made,
                 [&] { derived_->self_times.emplace(*this, call_tree()); });
  return *derived_->self_times;
}

const Links& Trace::device_links() const {
  std::call_once(derived_->links_made, [this] { derived_->links.emplace(*this, call_tree()); });
  return *derived_->links;
}

const LinkReport& Trace::links() const { return device_links().report(); }

}  // namespace tbtrace
