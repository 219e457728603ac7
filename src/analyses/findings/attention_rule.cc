// Attention that no fused kernel computes: PyTorch's math implementation, or a product, softmax and
// product that the program calls itself.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyses/attribution/forward_operators.h"
#include "analyses/findings/event_text.h"
#include "analyses/findings/rules.h"
#include "base/bounded_sum.h"
#include "base/share.h"
#include "trace/call_tree.h"
#include "wire/json_tree.h"

namespace tbtrace::analyses {
namespace {

constexpr double kMathAttention = 0.10;
constexpr std::int64_t kLargestHead = 256;    // that flash kernels take
constexpr std::int64_t kFlashGeneration = 8;  // of the compute capability

enum class Attention : std::uint8_t { none, math, written_out };

/// What an operator is for attention that is written out.
enum class AttentionPart : std::uint8_t { none, math, product, softmax, other_product };

AttentionPart part_named(std::string_view name) {
  struct Named {
    std::string_view name;
    AttentionPart part;
  };
  constexpr auto kParts = std::to_array<Named>({
      {"aten::_scaled_dot_product_attention_math", AttentionPart::math},
      {"aten::bmm", AttentionPart::product},
      {"aten::baddbmm", AttentionPart::product},
      {"aten::_softmax", AttentionPart::softmax},
      {"aten::mm", AttentionPart::other_product},
      {"aten::addmm", AttentionPart::other_product},
      {"aten::convolution", AttentionPart::other_product},
  });
  const auto* const found = std::ranges::find(kParts, name, &Named::name);
  return found == kParts.end() ? AttentionPart::none : found->part;
}

/// The sizes of the inputs of an operator; an empty list for what is not a tensor. Empty if they
/// are not recorded.
std::vector<std::vector<std::int64_t>> sizes_of(const Trace& trace, EventId op) {
  std::vector<std::vector<std::int64_t>> sizes;
  const std::optional<wire::JsonTree> list =
      wire::parse_json_tree(trace.argument_text(op, Argument::input_dims));
  if (!list) return sizes;
  for (const wire::JsonTree& input : list->items) {
    std::vector<std::int64_t>& dims = sizes.emplace_back();
    for (const wire::JsonTree& size : input.items) {
      if (size.kind == wire::JsonTree::Kind::integer) dims.push_back(size.integer);
    }
  }
  return sizes;
}

WideInteger elements(const std::vector<std::int64_t>& sizes) {
  WideInteger product = sizes.empty() ? 0 : 1;
  for (const std::int64_t size : sizes) product = bounded(product * size);
  return product;
}

/// Whether a softmax is of what the first product computes, and the second one takes as many
/// values. Without recorded sizes the order has to do.
bool is_one_attention(const Trace& trace, EventId first, EventId softmax, EventId second) {
  const std::vector<std::vector<std::int64_t>> scores = sizes_of(trace, softmax);
  const std::vector<std::vector<std::int64_t>> left = sizes_of(trace, first);
  const std::vector<std::vector<std::int64_t>> right = sizes_of(trace, second);
  if (scores.empty() && left.empty() && right.empty()) return true;
  // `baddbmm` has what it adds before the factors.
  const std::size_t at = trace.name(first) == "aten::baddbmm" ? 1 : 0;
  if (scores.empty() || left.size() < at + 2) return false;
  const std::vector<std::int64_t>& a = left[at];
  const std::vector<std::int64_t>& b = left[at + 1];
  if (a.size() != 3 || b.size() != 3) return false;
  const WideInteger size = elements(scores.front());
  return size == elements({a[0], a[1], b[2]}) &&
         std::ranges::any_of(right, [&](const auto& input) { return elements(input) == size; });
}

/// Which host ranges are attention, with what they call and with their backward passes.
class AttentionRanges {
 public:
  explicit AttentionRanges(const Trace& trace)
      : trace_(trace), tree_(call_tree_of(trace)), kinds_(trace.events().size()) {
    for (const EventId range : tree_.ranges()) visit(range);
    if (any_) inherit();
  }

  bool any() const { return any_; }
  Attention kind(EventId range) const {
    return range == EventId::none ? Attention::none : kinds_[index(range)];
  }
  std::uint64_t math_calls() const { return math_calls_; }
  std::uint64_t written_out() const { return written_out_; }

 private:
  struct Open {
    EventId product = EventId::none;
    EventId softmax = EventId::none;
    std::vector<EventId> since;  ///< ranges from the product on
  };

  AttentionPart part(EventId range) {
    const std::size_t name = index(trace_.events().name(range));
    if (name >= parts_.size()) parts_.resize(name + 1);
    if (!parts_[name]) parts_[name] = part_named(trace_.name(range));
    return *parts_[name];
  }

  void visit(EventId range) {
    const EventId parent = tree_.parent(range);
    if (parent != EventId::none && kinds_[index(parent)] == Attention::math) {
      kinds_[index(range)] = Attention::math;
      return;
    }
    if (trace_.kind(range) != EventKind::cpu_op) {
      // A launch: what it launches may have no known operator.
      return;
    }
    Open& open = open_[trace_.events().track(range)];
    if (open.product != EventId::none && open.since.size() < kMostBetween) {
      open.since.push_back(range);
    }
    switch (part(range)) {
      case AttentionPart::math:
        kinds_[index(range)] = Attention::math;
        any_ = true;
        ++math_calls_;
        open = {};
        break;
      case AttentionPart::product:
        if (open.softmax != EventId::none &&
            is_one_attention(trace_, open.product, open.softmax, range)) {
          for (const EventId between : open.since) {
            kinds_[index(between)] = Attention::written_out;
          }
          any_ = true;
          ++written_out_;
        }
        open = {range, EventId::none, {range}};
        break;
      case AttentionPart::softmax:
        if (open.product != EventId::none) open.softmax = range;
        break;
      case AttentionPart::other_product:
        open = {};
        break;
      case AttentionPart::none:
        break;
    }
  }

  /// Also to launches, and to backward passes of what is known by now.
  void inherit() {
    const ForwardOperators forward(trace_);
    for (const EventId range : tree_.ranges()) {
      Attention& kind = kinds_[index(range)];
      if (kind != Attention::none) continue;
      const EventId parent = tree_.parent(range);
      if (parent != EventId::none) kind = kinds_[index(parent)];
      const EventId op = forward.of(range);
      if (kind == Attention::none && op != EventId::none) kind = kinds_[index(op)];
    }
  }

  /// Between two products of an attention there are a mask, a scale and a dropout.
  static constexpr std::size_t kMostBetween = 200;

  const Trace& trace_;
  const CallTree& tree_;
  std::vector<Attention> kinds_;                     // by event
  std::vector<std::optional<AttentionPart>> parts_;  // by name
  std::unordered_map<TrackId, Open> open_;
  bool any_ = false;
  std::uint64_t math_calls_ = 0;
  std::uint64_t written_out_ = 0;
};

struct AttentionTimes {
  std::vector<TimeRange> all;
  std::int64_t math_ns = 0;
  std::int64_t written_out_ns = 0;
  std::int64_t products_ns = 0;
  std::vector<EventId> others = {};   ///< its work besides the products
  EventId longest = EventId::none;    ///< the kernel
  EventId math_call = EventId::none;  ///< the one around the longest of its kernels
};

AttentionTimes attention_times(const FindingFacts& facts, const AttentionRanges& ranges) {
  AttentionTimes times;
  const Events& events = facts.trace.events();
  const CallTree& tree = call_tree_of(facts.trace);
  std::int64_t longest = -1;
  std::int64_t longest_math = -1;
  for (const DeviceLink* link : facts.activities) {
    const EventId owner = link->op != EventId::none ? link->op : link->launch;
    const Attention kind = ranges.kind(owner);
    if (kind == Attention::none) continue;
    const std::int64_t duration = events.duration_ns(link->activity);
    add_range(times.all, {events.start_ns(link->activity), events.end_ns(link->activity)});
    add_bounded(kind == Attention::math ? times.math_ns : times.written_out_ns, duration);
    if (part_named(facts.trace.name(owner)) == AttentionPart::product) {
      add_bounded(times.products_ns, duration);
    } else {
      times.others.push_back(link->activity);
    }
    if (duration > longest) {
      longest = duration;
      times.longest = link->activity;
    }
    if (kind != Attention::math || duration <= longest_math) continue;
    for (EventId around = owner; around != EventId::none; around = tree.parent(around)) {
      if (part_named(facts.trace.name(around)) != AttentionPart::math) continue;
      longest_math = duration;
      times.math_call = around;
      break;
    }
  }
  return times;
}

/// What of a call's inputs fused kernels do not take, as far as it is recorded.
std::vector<std::string> obstacles(const FindingFacts& facts, EventId call) {
  std::vector<std::string> found;
  if (call == EventId::none) return found;
  constexpr std::size_t kMask = 3;
  const std::vector<std::vector<std::int64_t>> sizes = sizes_of(facts.trace, call);
  if (sizes.size() > kMask && !sizes[kMask].empty()) {
    found.emplace_back(
        "a mask, which the flash kernel does not take (is_causal=True needs none), but the "
        "memory-efficient and cuDNN kernels and flex_attention do");
  }
  if (!sizes.empty() && !sizes.front().empty()) {
    const std::int64_t head = sizes.front().back();
    if (head % 8 != 0) {
      found.push_back("a head size of " + std::to_string(head) + ", not a multiple of 8");
    } else if (head > kLargestHead) {
      found.push_back("a head size of " + std::to_string(head) + ", above " +
                      std::to_string(kLargestHead));
    }
  }
  const std::string_view types = facts.trace.argument_text(call, Argument::input_types);
  if (types.starts_with("[\"double")) {
    found.emplace_back("double precision, which no fused kernel takes");
  } else if (types.starts_with("[\"float")) {
    found.emplace_back(
        "single precision, which the flash kernel does not take (use bfloat16 or "
        "float16)");
  }
  if (facts.properties && facts.properties->compute_major &&
      facts.properties->name.find("AMD") == std::string::npos &&
      *facts.properties->compute_major < kFlashGeneration) {
    found.emplace_back("a GPU older than those that the flash kernel is for");
  }
  return found;
}

std::string math_remedy(const FindingFacts& facts, EventId call) {
  std::string remedy;
  for (const std::string& each : obstacles(facts, call)) {
    remedy += (remedy.empty() ? "its inputs have " : ", ") + each;
  }
  if (remedy.empty()) {
    remedy =
        "a mask, a head size (not a multiple of 8, or above 256) or a type (float32, float64) "
        "may be what the fused kernels do not take";
  }
  return remedy +
         "; inside torch.nn.attention.sdpa_kernel(SDPBackend.FLASH_ATTENTION) PyTorch "
         "says why it cannot use that kernel; a program may also have switched it off";
}

}  // namespace

std::optional<Finding> math_attention(const FindingFacts& facts) {
  if (!facts.device) return std::nullopt;
  const AttentionRanges ranges(facts.trace);
  if (!ranges.any()) return std::nullopt;
  const AttentionTimes times = attention_times(facts, ranges);
  const std::int64_t all_ns = total_length(times.all);
  const double part = share(all_ns, facts.device->window_ns);
  if (part < kMathAttention) return std::nullopt;
  const bool is_math = times.math_ns >= times.written_out_ns;
  Finding finding = {
      .id = "math_attention",
      .title = is_math ? "Attention runs by the math implementation, not by a fused kernel"
                       : "Attention is written out as product, softmax and product",
      .remedy = is_math ? math_remedy(facts, times.math_call)
                        : "call torch.nn.functional.scaled_dot_product_attention(), which has "
                          "fused kernels, or flex_attention for masks and biases of one's own; "
                          "nn.MultiheadAttention: need_weights=False",
      .evidence = {{"GPU time of it", all_ns, "ns", ""}},
      .share = part};
  const GpuUse& device = *facts.device;
  finding.evidence.push_back(
      {"of the time in which the GPU computed", share(all_ns, device.computation_ns), "share", ""});
  const std::int64_t others = times.math_ns + times.written_out_ns - times.products_ns;
  finding.evidence.push_back({"the part besides the products", others, "ns", ""});
  if (ranges.math_calls() > 0) {
    finding.evidence.push_back(
        {"calls of _scaled_dot_product_attention_math", ranges.math_calls(), "", ""});
  }
  if (ranges.written_out() > 0) {
    finding.evidence.push_back(
        {"products of a softmax of a product", ranges.written_out(), "", ""});
  }
  if (times.longest != EventId::none) {
    finding.evidence.push_back({"its longest kernel",
                                facts.trace.events().duration_ns(times.longest), "ns",
                                event_text(facts.trace, times.longest)});
  }
  finding.own_share = std::max(share(others, device.window_ns), 1e-9);
  return with_gain(facts, std::move(finding), others, "if it took only as long as its products",
                   of_one_device(facts, {.work = times.others, .factor = 0}));
}

}  // namespace tbtrace::analyses
