#include "pages/stacks_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "writers/flame/frame_color.h"

namespace tbtrace {
namespace {

using Node = StackTree::Node;

/// The nodes that are kept, and what their own weights are then.
struct KeptStacks {
  std::vector<Node> nodes;  ///< ascending, the root first
  std::vector<std::int64_t> self;
  std::vector<std::size_t> parent;  ///< by place in `nodes`
  std::size_t left_out = 0;         ///< those that have a weight
};

/// The heaviest nodes with what is inside them. A node is never heavier than the one around it, so
/// that one is kept as well.
KeptStacks kept_stacks(const StackTree& tree, std::size_t limit) {
  std::vector<std::int64_t> totals(tree.size());
  for (Node node = 0; node < tree.size(); ++node) totals[node] = tree.self(node);
  for (auto node = static_cast<Node>(tree.size()); --node > 0;) {
    totals[tree.parent(node)] += totals[node];
  }
  KeptStacks kept;
  for (Node node = 0; node < tree.size(); ++node) {
    if (node == StackTree::kRoot || totals[node] > 0) kept.nodes.push_back(node);
  }
  if (kept.nodes.size() > limit) {
    kept.left_out = kept.nodes.size() - limit;
    std::stable_sort(kept.nodes.begin() + 1, kept.nodes.end(),
                     [&](Node one, Node other) { return totals[one] > totals[other]; });
    kept.nodes.resize(limit);
    std::sort(kept.nodes.begin(), kept.nodes.end());
  }
  // By node: the place of itself or of the nearest node around it that is kept.
  std::vector<std::size_t> place(tree.size());
  kept.self.resize(kept.nodes.size());
  kept.parent.resize(kept.nodes.size());
  std::size_t next = 0;
  for (Node node = 0; node < tree.size(); ++node) {
    const std::size_t around = place[tree.parent(node)];
    place[node] = around;
    if (next < kept.nodes.size() && kept.nodes[next] == node) {
      kept.parent[next] = around;
      place[node] = next++;
    }
    kept.self[place[node]] += tree.self(node);
  }
  return kept;
}

}  // namespace

void pages::emit_frame_texts(wire::JsonEmitter& json, const TextList& texts,
                             std::size_t characters) {
  std::size_t cuts = 0;
  std::vector<int> kinds;
  json.key("texts");
  json.begin_array();
  for (const std::string_view text : texts.texts()) {
    json.text(cut_text(text, characters, cuts));
    kinds.push_back(static_cast<int>(writers::frame_kind(text)));
  }
  json.end_array();
  json.key("names_cut");
  json.integer(cuts);
  emit_integers(json, "kinds", kinds);
}

void pages::emit_stacks(wire::JsonEmitter& json, const StacksContent& content,
                        const ViewLimits& limits) {
  const StackTree& tree = content.tree;
  const KeptStacks kept = kept_stacks(tree, std::max<std::size_t>(1, limits.frames));
  TextList texts;
  std::vector<std::size_t> frames;
  std::vector<std::size_t> parents;
  for (std::size_t at = 0; at < kept.nodes.size(); ++at) {
    frames.push_back(texts.number_of(tree.frame(kept.nodes[at])));
    parents.push_back(at - kept.parent[at]);
  }
  json.new_line();
  json.begin_object();
  json.member("name", content.name);
  json.member("title", content.title);
  json.member("unit", tree.unit());
  json.key("total");
  json.integer(tree.total());
  json.key("left_out");
  json.integer(kept.left_out);
  emit_frame_texts(json, texts, limits.characters);
  emit_integers(json, "frame", frames);
  emit_integers(json, "parent", parents);
  emit_integers(json, "self", kept.self);
  json.key("empty");
  content.empty.empty() ? json.null() : json.text(content.empty);
  json.end_object();
}

}  // namespace tbtrace
