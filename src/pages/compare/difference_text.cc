#include "pages/compare/difference_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "base/bounded_sum.h"
#include "pages/stacks_text.h"
#include "pages/text_list.h"
#include "writers/flame/difference_shade.h"

namespace tbtrace {
namespace {

/// The nodes that are kept, with the times of those inside them that are not.
struct KeptNodes {
  std::vector<std::size_t> nodes;  ///< ascending, the root first
  std::vector<std::int64_t> base_self;
  std::vector<std::int64_t> new_self;
  std::vector<std::size_t> parent;  ///< by place in `nodes`
  std::size_t left_out = 0;
};

/// By node, how wide its frame is: the longer of the own times of itself and of all inside it.
std::vector<std::int64_t> widths_of_nodes(const FlameDifference& difference) {
  std::vector<std::int64_t> widths(difference.nodes.size());
  for (std::size_t at = widths.size(); at-- > 0;) {
    const DifferenceNode& node = difference.nodes[at];
    add_bounded(widths[at], std::max(node.base_self_ns, node.new_self_ns));
    if (at > 0) add_bounded(widths[node.parent], widths[at]);
  }
  return widths;
}

KeptNodes kept_nodes(const FlameDifference& difference, std::size_t limit) {
  const std::vector<std::int64_t> widths = widths_of_nodes(difference);
  KeptNodes kept;
  for (std::size_t at = 0; at < widths.size(); ++at) {
    if (at == 0 || widths[at] > 0) kept.nodes.push_back(at);
  }
  if (kept.nodes.size() > limit) {
    kept.left_out = kept.nodes.size() - limit;
    std::stable_sort(
        kept.nodes.begin() + 1, kept.nodes.end(),
        [&](std::size_t one, std::size_t other) { return widths[one] > widths[other]; });
    kept.nodes.resize(limit);
    std::sort(kept.nodes.begin(), kept.nodes.end());
  }
  std::vector<std::size_t> place(widths.size());
  for (auto* const list : {&kept.base_self, &kept.new_self}) list->resize(kept.nodes.size());
  kept.parent.resize(kept.nodes.size());
  std::size_t next = 0;
  for (std::size_t at = 0; at < widths.size(); ++at) {
    const DifferenceNode& node = difference.nodes[at];
    const std::size_t around = place[node.parent];
    place[at] = around;
    if (next < kept.nodes.size() && kept.nodes[next] == at) {
      kept.parent[next] = around;
      place[at] = next++;
    }
    add_bounded(kept.base_self[place[at]], node.base_self_ns);
    add_bounded(kept.new_self[place[at]], node.new_self_ns);
  }
  return kept;
}

std::string_view empty_text(StackWeight weight) {
  return weight == StackWeight::device
             ? "Neither side has GPU work. Record with ProfilerActivity.CUDA to see it."
             : "Neither side has ranges of the host.";
}

}  // namespace

void pages::emit_difference(wire::JsonEmitter& json, const FlameDifference& difference,
                            const ComparisonLimits& limits) {
  const KeptNodes kept = kept_nodes(difference, std::max<std::size_t>(1, limits.frames));
  TextList texts;
  std::vector<std::size_t> frames;
  std::vector<std::size_t> parents;
  std::vector<std::int64_t> was;
  std::vector<int> sides;
  for (std::size_t at = 0; at < kept.nodes.size(); ++at) {
    const DifferenceNode& node = difference.nodes[kept.nodes[at]];
    frames.push_back(texts.number_of(difference.frames[node.frame]));
    parents.push_back(at - kept.parent[at]);
    sides.push_back(at == 0 ? 0 : static_cast<int>(writers::side_of(node)));
    was.push_back(node.base_frame ? static_cast<std::int64_t>(
                                        texts.number_of(difference.frames[*node.base_frame]))
                                  : -1);
  }
  const bool is_device = difference.weight == StackWeight::device;
  json.new_line();
  json.begin_object();
  json.member("name", is_device ? "device" : "cpu");
  json.member("title", is_device ? "GPU time" : "Time on the host");
  json.key("is_per_step");
  json.boolean(difference.is_per_step);
  json.key("whole_ns");
  json.integer(std::llround(difference.whole_ns));
  json.key("base_ns");
  json.integer(difference.root().base_ns);
  json.key("new_ns");
  json.integer(difference.root().new_ns);
  json.key("left_out");
  json.integer(kept.left_out);
  emit_frame_texts(json, texts, limits.characters);
  emit_integers(json, "frame", frames);
  emit_integers(json, "parent", parents);
  emit_integers(json, "side", sides);
  emit_integers(json, "was", was);
  emit_integers(json, "base_self", kept.base_self);
  emit_integers(json, "new_self", kept.new_self);
  json.key("empty");
  const bool is_empty = difference.root().base_ns == 0 && difference.root().new_ns == 0;
  is_empty ? json.text(empty_text(difference.weight)) : json.null();
  json.end_object();
}

}  // namespace tbtrace
