#include "recorder/memory/data_flow.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace tbtrace::recorder {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// What a node and all within it were seen to do, before versions are counted. Storages are
/// numbered in the order of time.
struct NodeFacts {
  struct Use {
    std::uint32_t storage;
    std::optional<bool> is_written;  // nullopt: no schema says
  };
  struct Block {
    std::uint32_t storage;
    MemoryEvent event;
  };

  std::uint64_t start_ticks = 0;
  bool is_backward = false;
  std::vector<Use> uses = {};
  std::vector<Block> blocks = {};
};

class FactFinder {
 public:
  FactFinder(const Window& window, OperatorSchemas& schemas)
      : window_(window), schemas_(schemas), threads_(window.recording().logs().size()) {}

  /// Everything in the order of time.
  void find() {
    constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
    const Ranges& ranges = window_.ranges();
    const auto memory = window_.memory();
    const auto& known = window_.recording().known_tensors();
    std::size_t range = 0;
    std::size_t block = 0;
    std::size_t tensor = 0;
    for (;;) {
      const std::uint64_t range_at = range < ranges.size() ? ranges.start_ticks(range) : kNever;
      const std::uint64_t block_at = block < memory.size() ? memory[block].event.ticks : kNever;
      const std::uint64_t known_at = tensor < known.size() ? known[tensor].ticks : kNever;
      if (std::min({range_at, block_at, known_at}) == kNever) return;
      if (known_at <= range_at && known_at <= block_at) {
        visit(known[tensor++]);
      } else if (range_at <= block_at) {
        visit(ranges[range++]);
      } else {
        visit(memory[block++]);
      }
    }
  }

  struct Storage {
    std::uint64_t bytes = 0;  // as tensors say
    std::uint64_t allocated_bytes = 0;
    bool is_allocated = false;
    bool is_tensor = false;  // rather than any block of memory
    MemoryDevice device = MemoryDevice::cpu();
  };

  std::vector<NodeFacts> nodes;
  std::vector<Storage> storages;
  std::vector<std::uint32_t> gradients;
  std::vector<std::uint32_t> parameters;

 private:
  struct Open {
    std::uint64_t end_ticks;
    std::uint32_t node;  // kNone: not within one
    bool accumulates;    // the range is a run of AccumulateGrad
    bool has_part = false;
  };

  Open* innermost(std::uint32_t log, std::uint64_t ticks) {
    std::vector<Open>& open = threads_[log];
    while (!open.empty() && open.back().end_ticks <= ticks) open.pop_back();
    return open.empty() ? nullptr : &open.back();
  }

  void visit(const KnownTensor& known) {
    const std::uint32_t storage = tensor_at(known.address, known.bytes);
    if (storage != kNone) (known.is_gradient ? gradients : parameters).push_back(storage);
  }

  void visit(const Window::Range& range) {
    const BeginRecord record = begin_record(range.record);
    if (range.is_async || record.scope == Scope::module) return;
    Open* const around = innermost(range.log, range.start_ticks);
    const std::string_view name = window_.name(range).text;
    const std::vector<ObservedInput> inputs =
        observed_inputs({record.inputs, record.inputs_size}, record.storages,
                        window_.recording().options().element_bytes);
    if (around != nullptr && !std::exchange(around->has_part, true) && around->accumulates) {
      find_gradient(name, inputs);
    }
    const auto written = schemas_.written(name, inputs);
    std::uint32_t node = around != nullptr ? around->node : kNone;
    const bool is_backward = record.scope == Scope::backward_function;
    if (node == kNone && (is_backward || written)) {
      node = static_cast<std::uint32_t>(nodes.size());
      nodes.push_back({.start_ticks = range.start_ticks, .is_backward = is_backward});
    }
    for (std::size_t at = 0; at < inputs.size(); ++at) {
      for (const ObservedTensor& tensor : inputs[at].tensors) {
        const std::uint32_t storage = tensor_at(tensor.address, tensor.bytes);
        if (storage == kNone || node == kNone) continue;
        nodes[node].uses.push_back(
            {storage, written ? std::optional<bool>((*written)[at]) : std::nullopt});
      }
    }
    threads_[range.log].push_back(
        {.end_ticks = range.end_ticks,
         .node = node,
         .accumulates = is_backward && name == "torch::autograd::AccumulateGrad"});
  }

  /// AccumulateGrad begins with a new gradient's detach, or adds to the one that there is.
  void find_gradient(std::string_view name, const std::vector<ObservedInput>& inputs) {
    if (name != "aten::detach" && name != "aten::add_") return;
    if (inputs.empty() || inputs[0].kind != ObservedInput::Kind::tensor) return;
    const ObservedTensor& tensor = inputs[0].tensors[0];
    const std::uint32_t storage = tensor_at(tensor.address, tensor.bytes);
    if (storage != kNone) gradients.push_back(storage);
  }

  void visit(const Window::Memory& memory) {
    if (memory.is_out_of_memory) return;
    const auto before = by_address_.find(memory.event.address);
    if (memory.event.bytes > 0 && before != by_address_.end()) {
      // What was there is gone, and nothing was heard of it: it is older than the recording, or a
      // thread freed it that is not recorded.
      const FactFinder::Storage& old = storages[before->second];
      const std::uint64_t bytes = old.allocated_bytes > 0 ? old.allocated_bytes : old.bytes;
      add(memory.log, {.ticks = memory.event.ticks,
                       .address = memory.event.address,
                       .bytes = -static_cast<std::int64_t>(bytes)});
    }
    add(memory.log, memory.event);
  }

  void add(std::uint32_t log, const MemoryEvent& event) {
    const std::uint32_t storage = storage_at(event.address);
    storages[storage].is_allocated |= event.bytes > 0;
    if (storages[storage].allocated_bytes == 0) {
      storages[storage].allocated_bytes = static_cast<std::uint64_t>(std::abs(event.bytes));
    }
    if (event.bytes < 0) by_address_.erase(event.address);
    Open* const around = innermost(log, event.ticks);
    if (around != nullptr) around->has_part = true;
    if (around != nullptr && around->node != kNone) {
      nodes[around->node].blocks.push_back({storage, event});
    } else {
      nodes.push_back({.start_ticks = event.ticks, .blocks = {{storage, event}}});
    }
  }

  std::uint32_t storage_at(std::uint64_t address) {
    const auto [found, is_new] =
        by_address_.try_emplace(address, static_cast<std::uint32_t>(storages.size()));
    if (is_new) storages.push_back({.device = device_of(address)});
    return found->second;
  }

  std::uint32_t tensor_at(std::uint64_t address, std::uint64_t bytes) {
    if (address == 0) return kNone;
    const std::uint32_t row = storage_at(address);
    Storage& storage = storages[row];
    storage.is_tensor = true;
    storage.bytes = std::max(storage.bytes, bytes);
    return row;
  }

  const Window& window_;
  OperatorSchemas& schemas_;
  std::vector<std::vector<Open>> threads_;                       // by log
  std::unordered_map<std::uint64_t, std::uint32_t> by_address_;  // those that are alive
};

/// Counts versions, node by node.
class FlowBuilder {
 public:
  explicit FlowBuilder(FactFinder facts) : facts_(std::move(facts)) {}

  DataFlow build() {
    rows_.assign(facts_.storages.size(), kNone);
    for (std::size_t at = 0; at < rows_.size(); ++at) {
      const FactFinder::Storage& storage = facts_.storages[at];
      if (!storage.is_tensor) continue;
      rows_[at] = static_cast<std::uint32_t>(flow_.tensors.size());
      flow_.tensors.push_back(
          {.bytes = storage.allocated_bytes > 0 ? storage.allocated_bytes : storage.bytes,
           .is_allocated = storage.is_allocated,
           .device = storage.device});
    }
    versions_.assign(flow_.tensors.size(), 0);
    flow_.gradients = rows_of(facts_.gradients);
    flow_.parameters = rows_of(facts_.parameters);
    for (const NodeFacts& facts : facts_.nodes) add(facts);
    return std::move(flow_);
  }

 private:
  std::vector<std::uint32_t> rows_of(const std::vector<std::uint32_t>& storages) const {
    std::vector<std::uint32_t> rows;
    rows.reserve(storages.size());
    for (const std::uint32_t storage : storages) rows.push_back(rows_[storage]);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
  }

  void add(const NodeFacts& facts) {
    struct Said {
      bool yes = false;
      bool no = false;
    };
    std::map<std::uint32_t, Said> said;
    for (const NodeFacts::Use& use : facts.uses) {
      Said& what = said[rows_[use.storage]];
      what.yes |= use.is_written == true;
      what.no |= use.is_written == false;
    }
    std::map<std::uint32_t, FlowEdge> edges;
    const auto edge_of = [&](std::uint32_t tensor) -> FlowEdge& {
      FlowEdge& edge = edges[tensor];
      edge.tensor = tensor;
      edge.version = versions_[tensor];
      return edge;
    };
    // Where no schema said anything, the operator may have written.
    for (const auto& [tensor, what] : said) edge_of(tensor).is_written = what.yes || !what.no;
    for (const NodeFacts::Block& block : facts.blocks) {
      const std::uint32_t tensor = rows_[block.storage];
      if (tensor == kNone) {
        flow_.other_memory.push_back(block.event);
      } else if (block.event.bytes < 0) {
        FlowEdge& edge = edge_of(tensor);
        edge.is_freed = true;
        edge.is_written = false;
        edge.freed_ticks = block.event.ticks;
      } else {
        FlowEdge& edge = edge_of(tensor);
        edge.is_new = true;
        edge.new_ticks = block.event.ticks;
      }
    }
    if (edges.empty()) return;
    FlowNode node{.start_ticks = facts.start_ticks, .is_backward = facts.is_backward};
    for (const auto& [tensor, edge] : edges) {
      if (edge.is_written && !edge.is_new) ++versions_[tensor];
      node.edges.push_back(edge);
    }
    flow_.nodes.push_back(std::move(node));
  }

  FactFinder facts_;
  std::vector<std::uint32_t> rows_;  // of flow_.tensors, by storage
  std::vector<std::uint32_t> versions_;
  DataFlow flow_;
};

}  // namespace

DataFlow data_flow(const Window& window, OperatorSchemas& schemas) {
  FactFinder facts(window, schemas);
  facts.find();
  return FlowBuilder(std::move(facts)).build();
}

}  // namespace tbtrace::recorder
