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
  DeviceLinker(TorchRows& list, const Trace& trace, const std::function<NameId(EventId)>& name_of,
               const std::function<double(std::int64_t)>& time_us)
      : list_(list), trace_(trace), name_of_(name_of), time_us_(time_us) {}

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
    if (row.event == EventId::none || !row.in_tree()) return false;
    const EventKind kind = trace_.kind(row.event);
    return kind == EventKind::cpu_op || kind == EventKind::user_annotation;
  }

  /// In damaged files several operators may have the same id. Then all of them get the work, up to
  /// a limit that keeps the list from growing quadratically (LinkReport counts what is over it).
  void link_by_id() {
    const Links& links = links_of(trace_);
    ScopedIds operators(links.scopes(), list_.rows.size() / 2);
    Column<std::uint32_t> same_id;  // row -> the next row with the same id
    same_id.resize(list_.rows.size(), IdMap::kNone);
    Column<std::uint32_t> row_of;  // row of a runtime call
    row_of.resize(trace_.events().size(), IdMap::kNone);
    for (std::size_t row = list_.rows.size(); row-- > 0;) {
      const Row& entry = list_.rows[row];
      const auto number = static_cast<std::uint32_t>(row);
      if (entry.event == EventId::none) continue;
      if (trace_.kind(entry.event) == EventKind::runtime) row_of[index(entry.event)] = number;
      const std::int64_t id = may_launch(entry) ? trace_.external_id(entry.event) : 0;
      if (id == 0) continue;
      same_id[row] = operators.replace(links.scope(trace_, entry.event), id, number);
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
      if (may_launch(list_.rows[row])) row_of[index(list_.rows[row].event)] = row;
    }
    for (const DeviceLink& link : links_of(trace_).device_work()) {
      if (link.op == EventId::none || row_of[index(link.op)] == IdMap::kNone) continue;
      add_kernel(row_of[index(link.op)], link.activity);
    }
  }

  void add_kernel(std::uint32_t op, EventId event) {
    if (!is_listed(trace_.category(event).device)) return;
    const double start = time_us_(trace_.events().start_ns(event));
    const double end = time_us_(trace_.events().end_ns(event));
    list_.kernels.push_back({op, event, name_of_(event), end - start});
  }

  TorchRows& list_;
  const Trace& trace_;
  const std::function<NameId(EventId)>& name_of_;
  const std::function<double(std::int64_t)>& time_us_;
};

}  // namespace

void link_devices(TorchRows& rows, const Trace& trace,
                  const std::function<NameId(EventId)>& name_of,
                  const std::function<double(std::int64_t)>& time_us) {
  DeviceLinker(rows, trace, name_of, time_us).run();
}

// Parents come before children on a thread, so a row is complete at the next row not below it.
void add_up_device_time(TorchRows& list, std::size_t threads) {
  // Until a row is complete, its self time holds the sum of what is below it.
  list.device.resize(list.rows.size(), {});
  for (const TorchRows::Kernel& kernel : list.kernels) {
    list.device[kernel.row].total_us += kernel.duration_us;
  }
  std::vector<std::vector<std::uint32_t>> open(threads);
  const auto complete = [&](std::vector<std::uint32_t>& stack) {
    const std::uint32_t number = stack.back();
    stack.pop_back();
    const double below = list.device[number].self_us;
    const double total = list.device[number].total_us + below;
    list.device[number] = {total, total - below};
    const std::uint32_t parent = list.rows[number].parent;
    if (parent != TorchRows::kNone) list.device[parent].self_us += total;
  };
  for (std::uint32_t number = 0; number < list.rows.size(); ++number) {
    const Row& row = list.rows[number];
    if (row.device() != DeviceType::cpu && (row.flags & TorchRows::kAsync) == 0) {
      list.device[number] = {row.elapsed_us(), row.elapsed_us()};
    }
    if (!row.in_tree()) continue;
    std::vector<std::uint32_t>& stack = open[index(row.track)];
    while (!stack.empty() && stack.back() != row.parent) complete(stack);
    stack.push_back(number);
  }
  for (std::vector<std::uint32_t>& stack : open) {
    while (!stack.empty()) complete(stack);
  }
}

}  // namespace tbtrace::analyses
