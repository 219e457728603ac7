// Communication that nothing hides: what to do about it depends on which operation it is, and on
// what there is to hide it behind.
#include "analyses/findings/communication_rule.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/attribution/collective_names.h"
#include "analyses/attribution/forward_operators.h"
#include "analyses/findings/exposed_time.h"
#include "analyses/findings/rules.h"
#include "analyses/kernels/collective_operations.h"
#include "base/characters.h"
#include "base/share.h"
#include "trace/call_tree.h"

namespace tbtrace::analyses {
namespace {

constexpr double kCommunication = 0.10;
/// Of the exposed communication: what has less of it gets no remedy of its own.
constexpr double kNotable = 0.25;

/// What communication is for, as far as its operation tells.
enum class Purpose : std::uint8_t {
  all_reduce,  ///< of gradients, or of the parts of a layer
  sharding,    ///< all-gather and reduce-scatter
  all_to_all,  ///< tokens for experts, rows of embedding tables
  pipeline,    ///< sends and receives
  messages,    ///< sends and receives in one kernel, of which no name tells what for
  broadcast,
  other,
};
constexpr std::size_t kPurposes = 7;

Purpose purpose_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return Purpose::all_reduce;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      return Purpose::sharding;
    case CollectiveKind::all_to_all:
      return Purpose::all_to_all;
    case CollectiveKind::send:
    case CollectiveKind::receive:
      return Purpose::pipeline;
    case CollectiveKind::broadcast:
      return Purpose::broadcast;
    default:
      return Purpose::other;
  }
}

/// `dispatch` and `combine` are what libraries for experts call their two halves.
Purpose purpose_of_kernel(std::string_view kernel) {
  const CollectiveKind kind = operation_named(kernel);
  if (kind != CollectiveKind::other) return purpose_of(kind);
  const std::string name = lower_case(kernel);
  const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  if (has("dispatch") || has("combine")) return Purpose::all_to_all;
  return has("sendrecv") ? Purpose::messages : Purpose::other;
}

struct ExposedPurpose {
  std::vector<TimeRange> times;
  std::int64_t ns = 0;
  std::int64_t before_backward_ns = 0;  ///< launched in a forward pass
};
using ExposedPurposes = std::array<ExposedPurpose, kPurposes>;

class Purposes {
 public:
  explicit Purposes(const FindingFacts& facts)
      : facts_(facts), trace_(facts.trace), tree_(call_tree_of(facts.trace)) {
    find_backward_passes();
  }

  bool has_backward() const { return has_backward_; }
  /// Gradients of sharded parameters; known after run().
  bool has_reduce_scatter() const { return has_reduce_scatter_; }

  ExposedPurposes run() {
    const DeviceTimes times(trace_, facts_.activities);
    const Events& events = trace_.events();
    ExposedPurposes all;
    ExposedPurposes forward;
    for (const DeviceLink* link : facts_.activities) {
      if (times.role(link->activity) != StepRole::communication) continue;
      const auto purpose = static_cast<std::size_t>(purpose_of_link(*link));
      has_reduce_scatter_ = has_reduce_scatter_ || is_reduce_scatter(*link);
      const TimeRange time = {events.start_ns(link->activity), events.end_ns(link->activity)};
      add_range(all[purpose].times, time);
      if (is_of_forward_pass(*link)) add_range(forward[purpose].times, time);
    }
    for (std::size_t purpose = 0; purpose < kPurposes; ++purpose) {
      all[purpose].ns = total_length(times.exposed_communication(all[purpose].times));
      all[purpose].before_backward_ns =
          total_length(times.exposed_communication(forward[purpose].times));
    }
    return all;
  }

 private:
  /// The first range of a backward pass in each step.
  void find_backward_passes() {
    const std::vector<StepTime>& steps = facts_.steps.steps;
    backward_starts_.assign(steps.size(), INT64_MAX);
    has_backward_ = std::ranges::any_of(
        steps, [](const StepTime& step) { return step.ns(StepPhase::backward) > 0; });
    if (!has_backward_) return;
    for (const EventId range : tree_.ranges()) {
      if (trace_.kind(range) != EventKind::cpu_op || !is_backward(trace_, range)) continue;
      const std::optional<std::size_t> step = step_of(range);
      if (!step) continue;
      backward_starts_[*step] = std::min(backward_starts_[*step], trace_.events().start_ns(range));
    }
  }

  std::optional<std::size_t> step_of(EventId range) const {
    const std::vector<StepTime>& steps = facts_.steps.steps;
    const std::int64_t start = trace_.events().start_ns(range);
    const auto after = std::ranges::upper_bound(steps, start, {}, &StepTime::host_start_ns);
    if (after == steps.begin() || start >= std::prev(after)->host_end_ns) return std::nullopt;
    return static_cast<std::size_t>(std::prev(after) - steps.begin());
  }

  bool is_of_forward_pass(const DeviceLink& link) const {
    if (!has_backward_ || link.launch == EventId::none) return false;
    const std::optional<std::size_t> step = step_of(link.launch);
    return step && trace_.events().start_ns(link.launch) < backward_starts_[*step];
  }

  bool is_reduce_scatter(const DeviceLink& link) const {
    if (operation_named(trace_.name(link.activity)) == CollectiveKind::reduce_scatter) return true;
    const ArgumentColumn& names = trace_.argument(Argument::collective_name);
    EventId range = link.launch != EventId::none ? link.launch : link.op;
    for (; range != EventId::none; range = tree_.parent(range)) {
      const bool is_named =
          operation_named(trace_.string(names.text(range))) == CollectiveKind::reduce_scatter ||
          trace_.name(range).find("reduce_scatter") != std::string_view::npos;
      if (is_named) return true;
    }
    return false;
  }

  /// By what c10d says of it, by the range of its backend around the launch, else by its name.
  Purpose purpose_of_link(const DeviceLink& link) const {
    const ArgumentColumn& names = trace_.argument(Argument::collective_name);
    const auto by_name = [&](EventId event) -> std::optional<Purpose> {
      std::string_view name = trace_.string(names.text(event));
      if (name.empty()) {
        const CollectiveBackend* const backend = collective_backend(trace_.name(event));
        if (backend == nullptr || trace_.kind(event) == EventKind::kernel) return std::nullopt;
        name = trace_.name(event).substr(backend->prefix.size());
      }
      const Purpose purpose = purpose_of(operation_named(name));
      return purpose == Purpose::other ? std::nullopt : std::optional(purpose);
    };
    if (const std::optional<Purpose> named = by_name(link.activity)) return *named;
    EventId range = link.launch != EventId::none ? link.launch : link.op;
    for (; range != EventId::none; range = tree_.parent(range)) {
      if (const std::optional<Purpose> named = by_name(range)) return *named;
    }
    return purpose_of_kernel(trace_.name(link.activity));
  }

  const FindingFacts& facts_;
  const Trace& trace_;
  const CallTree& tree_;
  std::vector<std::int64_t> backward_starts_;  // by step
  bool has_backward_ = false;
  bool has_reduce_scatter_ = false;
};

const char* purpose_text(Purpose purpose) {
  constexpr auto kTexts = std::to_array<const char*>(
      {"all-reduces", "all-gathers and reduce-scatters", "all-to-alls", "sends and receives",
       "sends and receives in one kernel", "broadcasts", "other communication"});
  return kTexts[static_cast<std::size_t>(purpose)];
}

/// Whether kernels for small messages are in use already.
bool has_one_shot_kernels(const FindingFacts& facts) {
  return std::ranges::any_of(facts.activities, [&](const DeviceLink* link) {
    const std::string_view name = facts.trace.name(link->activity);
    return name.find("oneshot") != std::string_view::npos ||
           name.find("cross_device_reduce") != std::string_view::npos;
  });
}

std::string all_reduce_remedy(const FindingFacts& facts, const ExposedPurpose& exposed,
                              bool has_backward) {
  if (!has_backward) {
    std::string remedy =
        "the trace has no backward pass to hide all-reduces behind; those of tensor parallelism "
        "hold up the layer after them: use fewer ranks in a group, on faster links; ";
    if (!has_one_shot_kernels(facts)) {
      remedy += "one-shot or fused all-reduce kernels for small messages; ";
    }
    return remedy + "or two batches, of which one computes while the other communicates";
  }
  if (share(exposed.before_backward_ns, exposed.ns) >= kNotable) {
    return "all-reduces of the forward pass hold up the layer after them, as in tensor "
           "parallelism: use fewer ranks in a group and none on another host, sequence "
           "parallelism, or products that overlap with their communication (async tensor "
           "parallelism)";
  }
  if (!facts.has_ddp) {
    return "put gradients into fewer and larger all-reduces that begin during the backward pass, "
           "as torch's DistributedDataParallel does with its buckets, or send less: 16 bits, "
           "gradient accumulation";
  }
  return "overlap the all-reduce of gradients with the backward pass (DDP: bucket_cap_mb, "
         "gradient_as_bucket_view), or send less: 16 bits, gradient accumulation with no_sync()";
}

std::string remedy_of(const FindingFacts& facts, Purpose purpose, const ExposedPurpose& exposed,
                      const Purposes& purposes) {
  const bool has_backward = purposes.has_backward();
  switch (purpose) {
    case Purpose::all_reduce:
      return all_reduce_remedy(facts, exposed, has_backward);
    case Purpose::sharding:
      if (has_backward && !purposes.has_reduce_scatter()) {
        return "gather less often, or while something else computes: what the next layer needs, "
               "or an optimizer's updates while the next batch begins; use fewer ranks in a group";
      }
      return has_backward
                 ? "gather parameters earlier (FSDP: backward_prefetch, forward_prefetch, "
                   "set_modules_to_forward_prefetch()), in larger units, or less often: "
                   "reshard_after_forward=False, sharding within a host only"
                 : "keep parameters whole if they fit, or gather those of the next layer while "
                   "this one computes; in tensor parallelism, use fewer ranks in a group";
    case Purpose::all_to_all:
      if (facts.has_embedding_tables) {
        return "exchange embeddings while something else computes, such as the dense layers or "
               "another micro batch; shard large tables evenly, and exchange 16 or 8 bits";
      }
      return "exchange tokens while something else computes: two micro batches that take turns, "
             "shared experts meanwhile; balance the experts, and let a token's experts be on few "
             "hosts";
    case Purpose::pipeline:
      return "sends and receives are where the stages of a pipeline wait for each other (its "
             "bubble): use more micro batches per step, an interleaved or zero-bubble schedule, "
             "and stages of equal work";
    case Purpose::messages:
      return "these kernels send and receive: in a pipeline, use more micro batches per step, or "
             "an interleaved or zero-bubble schedule; if they are all-to-alls or a ring, exchange "
             "while something else computes";
    case Purpose::broadcast:
      return "broadcast less often, such as buffers that need not be equal on all ranks";
    case Purpose::other:
      break;
  }
  return "look at which operations these are (tbtrace kernels), and run them while something else "
         "computes";
}

}  // namespace

std::optional<Finding> exposed_communication(const FindingFacts& facts) {
  if (!facts.device) return std::nullopt;
  const GpuUse& device = *facts.device;
  const double part = share(device.exposed_communication_ns, device.window_ns);
  if (part < kCommunication) return std::nullopt;
  Purposes purposes(facts);
  const ExposedPurposes exposed = purposes.run();
  std::vector<Purpose> order;
  for (std::size_t purpose = 0; purpose < kPurposes; ++purpose) {
    if (exposed[purpose].ns > 0) order.push_back(static_cast<Purpose>(purpose));
  }
  const auto of = [&](Purpose purpose) -> const ExposedPurpose& {
    return exposed[static_cast<std::size_t>(purpose)];
  };
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](Purpose purpose) { return of(purpose).ns; });
  Finding finding = {
      .id = "exposed_communication",
      .title = "Communication runs while no computation does",
      .remedy = {},
      .evidence = {{"communication without computation", device.exposed_communication_ns, "ns", ""},
                   {"all communication", device.communication_ns, "ns", ""}},
      .share = part};
  for (const Purpose purpose : order) {
    finding.evidence.push_back(
        {std::string(purpose_text(purpose)) + " without computation", of(purpose).ns, "ns", ""});
    const bool is_notable = share(of(purpose).ns, device.exposed_communication_ns) >= kNotable;
    if (!is_notable && purpose != order.front()) continue;
    if (!finding.remedy.empty()) finding.remedy += "; ";
    finding.remedy += remedy_of(facts, purpose, of(purpose), purposes);
  }
  std::vector<TimeRange> times;
  for (const ExposedPurpose& each : exposed) {
    times.insert(times.end(), each.times.begin(), each.times.end());
  }
  std::ranges::sort(times, {}, &TimeRange::start);
  std::vector<TimeRange> all;
  for (const TimeRange& time : times) add_range(all, time);
  const std::int64_t once =
      ns_of_one_step(facts, DeviceTimes(facts.trace, facts.activities).exposed_communication(all));
  if (once > 0) {
    finding.evidence.push_back({"in one step", once, "ns", ""});
    finding.remedy =
        "most of it is in one step, as when NCCL sets up its connections: record "
        "later steps as well; of the others: " +
        finding.remedy;
  }
  finding.remedy += kWaitingIsUnknown;
  const ChangedWork without = {.changes = {{.kind = ChangeKind::communication, .factor = 0}}};
  return with_gain(facts, std::move(finding), device.exposed_communication_ns - once,
                   once > 0 ? "if all of it in the other steps ran beside computation"
                            : "if all of it ran beside computation",
                   once > 0 ? std::nullopt : std::optional(without));
}

}  // namespace tbtrace::analyses
