#include "analyses/compat/plugin/memory.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyses/compat/plugin/rules.h"
#include "analyses/compat/plugin/tree.h"
#include "base/bounded_sum.h"

namespace tbtrace::analyses {
namespace {

using NodeId = PluginTree::NodeId;

std::string device_of(const MemoryRecord& record) {
  return record.device_type == DeviceType::cpu ? "CPU" : "GPU" + std::to_string(record.device_id);
}

/// The deepest node that holds a time, and the node around it.
struct Place {
  std::optional<NodeId> node;
  std::optional<NodeId> around;
};

struct Bytes {
  WideInteger increase = 0;
  WideInteger allocations = 0;
  WideInteger allocated = 0;

  Bytes& operator+=(const Bytes& other) {
    increase += other.increase;
    allocations += other.allocations;
    allocated += other.allocated;
    return *this;
  }
  bool any() const { return increase != 0 || allocations != 0 || allocated != 0; }
};

struct Row {
  Bytes all;
  Bytes self;
};

class PluginMemoryView {
 public:
  explicit PluginMemoryView(const Trace& trace) : trace_(trace), tree_(trace) {}

  PluginMemory run() {
    for (const MemoryRecord& record : trace_.memory()) {
      places_.push_back(record.out_of_memory ? Place{} : place_of(record));
    }
    PluginMemory memory;
    memory.events = events();
    memory.rows = rows();
    memory.curve = curve();
    return memory;
  }

 private:
  Place place_of(const MemoryRecord& record) {
    const TrackKey& thread = trace_.track(record.track).thread;
    if (thread.text != StringId::empty) return {};
    const auto [entry, added] = roots_.emplace(thread.number, std::nullopt);
    if (added) entry->second = tree_.root_of(thread.number);
    const double time = plugin_time(record.time_ns);
    Place place;
    std::optional<NodeId> next = entry->second;
    if (next && !holds(*next, time)) return {};
    while (next) {
      place = {next, place.node};
      next = child_at(*next, time);
    }
    return place;
  }

  bool holds(NodeId id, double time) const {
    return tree_.node(id).start <= time && time < tree_.node(id).end;
  }

  std::optional<NodeId> child_at(NodeId id, double time) const {
    const std::vector<NodeId>& children = tree_.node(id).children;
    // Children do not overlap and are in the order of their starts.
    auto next =
        std::upper_bound(children.begin(), children.end(), time,
                         [&](double at, NodeId child) { return at < tree_.node(child).start; });
    // Children of no duration may start where the one that holds the time does.
    while (next != children.begin()) {
      --next;
      if (holds(*next, time)) return *next;
      if (tree_.node(*next).start < time) break;
    }
    return std::nullopt;
  }

  std::string name_of(std::size_t row) const {
    const Place& place = places_[row];
    if (!place.node || !tree_.is_listed(*place.node)) return "<unknown>";
    const std::string_view name = trace_.name(tree_.node(*place.node).event);
    if (!name.starts_with("aten::empty") || !place.around || !tree_.is_listed(*place.around)) {
      return std::string(name);
    }
    return std::string(trace_.name(tree_.node(*place.around).event)) + " (" + std::string(name) +
           ")";
  }

  /// An address that is allocated or freed again keeps its place in the order, as in a Python dict.
  struct Pending {
    std::vector<std::int64_t> order;  // addresses
    struct Entry {
      std::size_t row;
      std::size_t place;  // in the order
    };
    std::unordered_map<std::int64_t, Entry> rows;

    void set(std::int64_t address, std::size_t row) {
      const auto [entry, added] = rows.emplace(address, Entry{row, order.size()});
      entry->second.row = row;
      if (added) order.push_back(address);
    }

    template <typename Visit>
    void for_each(Visit visit) const {
      for (std::size_t place = 0; place < order.size(); ++place) {
        const auto found = rows.find(order[place]);
        if (found != rows.end() && found->second.place == place) visit(found->second.row);
      }
    }
  };

  std::vector<PluginMemoryEvent> events() const {
    const std::span<const MemoryRecord> records = trace_.memory();
    const ArgumentColumn& addresses = trace_.memory_argument(Argument::address);
    std::vector<PluginMemoryEvent> events;
    Pending allocated;
    Pending freed;
    const auto size = [](const MemoryRecord& record) {
      return bounded(-WideInteger{record.bytes});
    };
    for (std::size_t row = 0; row < records.size(); ++row) {
      const std::optional<std::int64_t> address = addresses.integer(row);
      if (records[row].out_of_memory || !address) continue;
      if (records[row].bytes > 0) {
        allocated.set(*address, row);
        continue;
      }
      const auto found = allocated.rows.find(*address);
      if (found == allocated.rows.end()) {
        freed.set(*address, row);
        continue;
      }
      const std::size_t from = found->second.row;
      events.push_back({device_of(records[from]), name_of(from), size(records[row]),
                        records[from].time_ns, records[row].time_ns});
      allocated.rows.erase(found);
    }
    allocated.for_each([&](std::size_t row) {
      events.push_back({device_of(records[row]), name_of(row), records[row].bytes,
                        records[row].time_ns, std::nullopt});
    });
    freed.for_each([&](std::size_t row) {
      events.push_back({device_of(records[row]), name_of(row), size(records[row]), std::nullopt,
                        records[row].time_ns});
    });
    return events;
  }

  std::vector<PluginMemoryPoint> curve() const {
    const ArgumentColumn& addresses = trace_.memory_argument(Argument::address);
    const ArgumentColumn& reserved = trace_.memory_argument(Argument::total_reserved);
    std::vector<PluginMemoryPoint> curve;
    for (std::size_t row = 0; row < trace_.memory().size(); ++row) {
      const MemoryRecord& record = trace_.memory()[row];
      const std::optional<std::int64_t> total_reserved = reserved.integer(row);
      const bool drawn = !record.out_of_memory && addresses.has(row) && total_reserved &&
                         record.total_allocated_bytes >= 0;
      if (!drawn) continue;
      curve.push_back(
          {device_of(record), record.time_ns, record.total_allocated_bytes, *total_reserved});
    }
    return curve;
  }

  std::vector<PluginMemoryRow> rows() {
    const std::span<const MemoryRecord> records = trace_.memory();
    std::map<std::string, std::unordered_map<NodeId, Bytes>> own;  // by device
    for (std::size_t row = 0; row < records.size(); ++row) {
      const Place& place = places_[row];
      if (!place.node || !tree_.is_listed(*place.node)) continue;
      const std::int64_t bytes = records[row].bytes;
      Bytes& sum = own[device_of(records[row])][*place.node];
      sum.increase += bytes;
      if (bytes <= 0) continue;
      sum.allocations += 1;
      sum.allocated += bytes;
    }
    std::map<std::string_view, std::int64_t> calls;
    const std::vector<NodeId> operators = tree_.operators();
    for (const NodeId id : operators) ++calls[trace_.name(tree_.node(id).event)];
    std::vector<PluginMemoryRow> result;
    for (const auto& [device, sums] : own) {
      for (const auto& [name, row] : rows_of(sums)) {
        if (!row.all.any() && !row.self.any()) continue;
        result.push_back({device, std::string(name), calls[name], bounded(row.all.increase),
                          bounded(row.self.increase), bounded(row.all.allocations),
                          bounded(row.self.allocations), bounded(row.all.allocated),
                          bounded(row.self.allocated)});
      }
    }
    return result;
  }

  /// By operator name; a node's bytes also count for the nodes around it.
  std::map<std::string_view, Row> rows_of(const std::unordered_map<NodeId, Bytes>& own) const {
    std::map<std::string_view, Row> rows;
    struct Visit {
      NodeId node;
      std::size_t child;
      Bytes sum;
    };
    for (const NodeId root : tree_.roots()) {
      std::vector<Visit> path = {{root, 0, {}}};
      while (!path.empty()) {
        Visit& visit = path.back();
        const std::vector<NodeId>& children = tree_.node(visit.node).children;
        if (visit.child < children.size()) {
          path.push_back({children[visit.child++], 0, {}});
          continue;
        }
        const auto found = own.find(visit.node);
        if (found != own.end()) visit.sum += found->second;
        if (visit.sum.any() && tree_.is_listed(visit.node)) {
          Row& row = rows[trace_.name(tree_.node(visit.node).event)];
          row.all += visit.sum;
          if (found != own.end()) row.self += found->second;
        }
        const Bytes sum = visit.sum;
        path.pop_back();
        if (!path.empty()) path.back().sum += sum;
      }
    }
    return rows;
  }

  const Trace& trace_;
  PluginTree tree_;
  std::map<std::int64_t, std::optional<NodeId>> roots_;  // by thread
  std::vector<Place> places_;                            // by record
};

}  // namespace

PluginMemory plugin_memory(const Trace& trace) { return PluginMemoryView(trace).run(); }

}  // namespace tbtrace::analyses
