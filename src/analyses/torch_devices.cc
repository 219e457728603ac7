#include "analyses/torch_devices.h"

#include <algorithm>
#include <vector>

#include "base/id_map.h"
#include "trace/links.h"
#include "trace/scoped_ids.h"

namespace tbtrace::analyses {
namespace {

using Row = TorchRows::Row;

/// Devices whose work torch lists under the launching operator.
bool is_listed(DeviceType device) {
  return device == DeviceType::cuda || device == DeviceType::xpu ||
         device == DeviceType::privateuse1;
}

class DeviceLinker {
 public:
  DeviceLinker(TorchRows& list, const std::function<NameId(EventId)>& name_of)
      : list_(list), trace_(*list.trace), name_of_(name_of) {}

  void run() {
    if (trace_.links().external_ids_valid) {
      link_by_id();
    } else {
      link_by_containment();
    }
    std::stable_sort(list_.kernels.begin(), list_.kernels.end(),
                     [](const auto& a, const auto& b) { return a.row < b.row; });
  }

 private:
  bool may_launch(const Row& row) const {
    if (row.has(TorchRows::kMemory) || !row.in_tree()) return false;
    const EventKind kind = trace_.kind(row.event());
    return kind == EventKind::cpu_op || kind == EventKind::user_annotation;
  }

  /// In damaged files several operators may have the same id. Then all of them get the work, up to
  /// a limit that keeps the list from growing quadratically (LinkReport counts what is over it).
  void link_by_id() {
    const Links& links = links_of(trace_);
    const auto launchers = std::count_if(list_.rows.begin(), list_.rows.end(),
                                         [&](const Row& row) { return may_launch(row); });
    ScopedIds operators(links.scopes(), static_cast<std::size_t>(launchers));
    Column<std::uint32_t> same_id;  // row -> the next row with the same id
    same_id.resize(list_.rows.size(), IdMap::kNone);
    Column<std::uint32_t> row_of;  // row of a runtime call
    row_of.resize(trace_.events().size(), IdMap::kNone);
    for (std::size_t row = list_.rows.size(); row-- > 0;) {
      const Row& entry = list_.rows[row];
      const auto number = static_cast<std::uint32_t>(row);
      const EventId event = entry.event();
      if (event == EventId::none) continue;
      if (trace_.kind(event) == EventKind::runtime) row_of[index(event)] = number;
      const std::int64_t id = may_launch(entry) ? trace_.external_id(event) : 0;
      if (id == 0) continue;
      same_id[row] = operators.replace(links.scope(trace_, event), id, number);
    }
    for (const EventId event : trace_.by_start()) {
      const EventKind kind = trace_.kind(event);
      const bool call = kind == EventKind::runtime;
      if (!call && !is_device_work(kind) && kind != EventKind::device_other) continue;
      const std::int64_t id = trace_.external_id(event);
      if (id == 0) continue;
      std::size_t count = 0;
      for (std::uint32_t op = operators.find(links.scope(trace_, event), id);
           op != IdMap::kNone && count < LinkReport::kMostOperators; op = same_id[op], ++count) {
        if (!call) {
          add_kernel(op, event);
        } else if (row_of[index(event)] != IdMap::kNone) {
          list_.rows[row_of[index(event)]].track = list_.rows[op].track;
        }
      }
    }
  }

  void link_by_containment() {
    Column<std::uint32_t> row_of;
    row_of.resize(trace_.events().size(), IdMap::kNone);
    for (std::uint32_t row = 0; row < list_.rows.size(); ++row) {
      if (may_launch(list_.rows[row])) row_of[index(list_.rows[row].event())] = row;
    }
    for (const DeviceLink& link : links_of(trace_).device_work()) {
      if (link.op == EventId::none || row_of[index(link.op)] == IdMap::kNone) continue;
      add_kernel(row_of[index(link.op)], link.activity);
    }
  }

  void add_kernel(std::uint32_t op, EventId event) {
    if (!is_listed(trace_.category(event).device)) return;
    list_.kernels.push_back({op, event, name_of_(event)});
  }

  TorchRows& list_;
  const Trace& trace_;
  const std::function<NameId(EventId)>& name_of_;
};

}  // namespace

void link_devices(TorchRows& rows, const std::function<NameId(EventId)>& name_of) {
  DeviceLinker(rows, name_of).run();
}

// Parents come before children on a thread, so a row is complete at the next row not below it.
void add_up_device_time(TorchRows& list, std::size_t threads) {
  // Only rows that launched work, or have some below them.
  list.device = SparseColumn<TorchRows::DeviceTime>(list.rows.size());
  for (const TorchRows::Kernel& kernel : list.kernels) list.device.mark(kernel.row);
  for (std::size_t number = list.rows.size(); number-- > 0;) {
    if (!list.device.is_marked(number)) continue;
    const std::uint32_t parent = list.rows[number].parent;
    if (parent != TorchRows::kNone) list.device.mark(parent);
  }
  list.device.settle();
  // Until a row is complete, its self time holds the sum of what is below it.
  for (const TorchRows::Kernel& kernel : list.kernels) {
    list.device[kernel.row].total_us += list.elapsed_us(kernel);
  }
  std::vector<std::vector<std::uint32_t>> open(threads);
  const auto complete = [&](std::vector<std::uint32_t>& stack) {
    const std::uint32_t number = stack.back();
    stack.pop_back();
    TorchRows::DeviceTime& time = list.device[number];
    const double below = time.self_us;
    const double total = time.total_us + below;
    time = {total, total - below};
    const std::uint32_t parent = list.rows[number].parent;
    if (parent != TorchRows::kNone) list.device[parent].self_us += total;
  };
  for (std::uint32_t number = 0; number < list.rows.size(); ++number) {
    if (!list.device.is_marked(number)) continue;
    const Row& row = list.rows[number];
    std::vector<std::uint32_t>& stack = open[index(row.track)];
    while (!stack.empty() && stack.back() != row.parent) complete(stack);
    stack.push_back(number);
  }
  for (std::vector<std::uint32_t>& stack : open) {
    while (!stack.empty()) complete(stack);
  }
}

}  // namespace tbtrace::analyses
