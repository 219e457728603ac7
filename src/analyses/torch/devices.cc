#include "analyses/torch/devices.h"

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

bool may_launch(const Trace& trace, const Row& row) {
  if (row.has(TorchRows::kMemory) || !row.in_tree()) return false;
  const EventKind kind = trace.kind(row.event());
  return kind == EventKind::cpu_op || kind == EventKind::user_annotation;
}

}  // namespace

/// In damaged files several operators may have the same id. Then all of them get the work, up to a
/// limit that keeps the list from growing quadratically (LinkReport counts what is over it).
class TorchDevices::Operators {
 public:
  explicit Operators(const TorchRows& list)
      : trace_(*list.trace),
        links_(links_of(trace_)),
        rows_(links_.scopes(), static_cast<std::size_t>(std::count_if(
                                   list.rows.begin(), list.rows.end(),
                                   [&](const Row& row) { return may_launch(trace_, row); }))) {
    same_id_.resize(list.rows.size(), IdMap::kNone);
    for (std::size_t row = list.rows.size(); row-- > 0;) {
      const Row& entry = list.rows[row];
      if (!may_launch(trace_, entry)) continue;
      const EventId event = entry.event();
      const std::int64_t id = trace_.external_id(event);
      if (id == 0) continue;
      const auto number = static_cast<std::uint32_t>(row);
      same_id_[row] = rows_.replace(links_.scope(trace_, event), id, number);
    }
  }

  /// Calls `visit(row)` for each operator with the event's id.
  template <typename Visit>
  void for_each_with_id_of(EventId event, const Visit& visit) const {
    const std::int64_t id = trace_.external_id(event);
    if (id == 0) return;
    std::size_t count = 0;
    for (std::uint32_t op = rows_.find(links_.scope(trace_, event), id);
         op != IdMap::kNone && count < LinkReport::kMostOperators; op = same_id_[op], ++count) {
      visit(op);
    }
  }

 private:
  const Trace& trace_;
  const Links& links_;
  ScopedIds rows_;
  Column<std::uint32_t> same_id_;  // row -> the next row with the same id
};

TorchDevices::TorchDevices(TorchRows& list) : list_(list), trace_(*list.trace) {
  if (trace_.links().external_ids_valid) {
    operators_ = std::make_unique<Operators>(list);
    return;
  }
  row_of_.resize(trace_.events().size(), IdMap::kNone);
  for (std::uint32_t row = 0; row < list_.rows.size(); ++row) {
    const Row& entry = list_.rows[row];
    if (may_launch(trace_, entry)) row_of_[index(entry.event())] = row;
  }
}

TorchDevices::~TorchDevices() = default;

void TorchDevices::move_calls() {
  if (operators_ == nullptr) return;
  for (Row& row : list_.rows) {
    if (row.has(TorchRows::kMemory) || trace_.kind(row.event()) != EventKind::runtime) continue;
    operators_->for_each_with_id_of(row.event(),
                                    [&](std::uint32_t op) { row.track = list_.rows[op].track; });
  }
}

void TorchDevices::list_kernels(TorchNames& names) {
  if (operators_ != nullptr) {
    list_by_id(names);
  } else {
    list_by_containment(names);
  }
  std::stable_sort(list_.kernels.begin(), list_.kernels.end(),
                   [](const auto& a, const auto& b) { return a.row < b.row; });
}

void TorchDevices::list_by_id(TorchNames& names) {
  for (const EventId event : trace_.by_start()) {
    const EventKind kind = trace_.kind(event);
    if (!is_device_work(kind) && kind != EventKind::device_other) continue;
    operators_->for_each_with_id_of(event, [&](std::uint32_t op) { add_kernel(op, event, names); });
  }
}

void TorchDevices::list_by_containment(TorchNames& names) {
  for (const DeviceLink& link : links_of(trace_).device_work()) {
    if (link.op == EventId::none || row_of_[index(link.op)] == IdMap::kNone) continue;
    add_kernel(row_of_[index(link.op)], link.activity, names);
  }
}

void TorchDevices::add_kernel(std::uint32_t op, EventId event, TorchNames& names) {
  if (!is_listed(trace_.category(event).device)) return;
  list_.kernels.push_back({op, event, names.get(trace_.events().name(event), false).name});
}

// Parents come before children on a thread, so a row is complete at the next row not below it.
void add_up_device_time(TorchRows& list, std::size_t threads) {
  // Only rows that launched work, or have some below them.
  list.device = SparseColumn<TorchRows::Time>(list.rows.size());
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
    TorchRows::Time& time = list.device[number];
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
