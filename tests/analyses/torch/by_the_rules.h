// torch's event list by its rules, each taken literally: rows with lists of children, passes over
// them until nothing changes, all records compared with all events.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/torch/tree.h"
#include "trace/links.h"

namespace tbtrace::analyses {

struct RuledRow {
  std::string name;
  EventId event = EventId::none;
  TrackId thread = {};
  double start = 0;
  double end = 0;
  bool async = false;
  DeviceType device = DeviceType::cpu;
  std::int64_t bytes = 0;
  std::int64_t device_bytes = 0;
  std::vector<double> kernels;
  RuledRow* parent = nullptr;
  std::vector<RuledRow*> children;
  bool removed = false;

  double elapsed() const { return end - start; }
  bool in_tree() const { return device == DeviceType::cpu && !async; }

  double self_us() const {
    if (!in_tree()) return 0;
    double sum = 0;
    for (const RuledRow* child : children) sum += child->elapsed();
    return elapsed() - sum;
  }
  double device_us() const {
    if (async) return 0;
    if (device != DeviceType::cpu) return elapsed();
    double own = 0;
    for (const double kernel : kernels) own += kernel;
    double below = 0;
    for (const RuledRow* child : children) below += child->device_us();
    return own + below;
  }
  double self_device_us() const {
    if (async || device != DeviceType::cpu) return device_us();
    double below = 0;
    for (const RuledRow* child : children) below += child->device_us();
    return device_us() - below;
  }
  std::int64_t self_bytes() const {
    if (!in_tree()) return 0;
    std::int64_t below = 0;
    for (const RuledRow* child : children) below += child->bytes;
    return bytes - below;
  }
};

inline bool is_profiler_event(EventKind kind) { return kind <= EventKind::python_function; }

class TorchByTheRules {
 public:
  explicit TorchByTheRules(const Trace& trace)
      : trace_(trace), tree_(trace, ForwardThreads(trace)), rows_(trace.events().size() + 64) {
    list_events();
    list_memory();
    std::stable_sort(list_.begin(), list_.end(), [](const RuledRow* a, const RuledRow* b) {
      return a->start != b->start ? a->start < b->start : a->end > b->end;
    });
    if (trace.device()) link();
    nest();
    while (remove_duplicates()) {
    }
  }

  const std::vector<RuledRow*>& list() const { return list_; }
  std::size_t duplicates() const { return duplicates_; }

 private:
  double us(std::int64_t ns) const {
    return static_cast<double>(ns - trace_.window_start_ns()) / 1000.0;
  }

  RuledRow& add() {
    list_.push_back(&rows_.at(list_.size()));
    return *list_.back();
  }

  static std::string shown(std::string_view name, bool op) {
    if (op && name == "aten::add.Tensor") return "aten::add";
    if (name == "_Z3foov") return "foo()";
    if (name.starts_with("ProfilerStep#")) return "ProfilerStep*";
    return std::string(name);
  }

  /// torch's own events by rank, then the others as in the file, all by start.
  void list_events() {
    std::vector<EventId> order;
    for (const EventId event : trace_.by_start()) {
      if (is_profiler_event(trace_.kind(event))) order.push_back(event);
    }
    for (std::size_t row = 0; row < trace_.events().size(); ++row) {
      const auto event = static_cast<EventId>(row);
      if (!is_profiler_event(trace_.kind(event))) order.push_back(event);
    }
    bool whole = true;
    for (const EventId event : order) {
      whole = whole && trace_.events().start_ns(event) % 1000 == 0 &&
              trace_.events().duration_ns(event) % 1000 == 0;
    }
    for (const EventId event : order) {
      const std::string_view name = trace_.name(event);
      if (name == "[memory]" || name == "[OutOfMemory]" || name == "aten::is_leaf") continue;
      const EventKind kind = trace_.kind(event);
      std::int64_t start = trace_.events().start_ns(event);
      std::int64_t end = tree_.end_ns(event);
      if (kind == EventKind::gpu_user_annotation && end - start >= (whole ? 1000 : 2)) {
        start += whole ? 1000 : 1;
        end -= whole ? 0 : 1;
      }
      RuledRow& row = add();
      row.name = shown(name, kind == EventKind::cpu_op);
      row.event = event;
      row.thread = trace_.events().track(event);
      row.start = us(start);
      row.end = us(end);
      row.async = trace_.events().unfinished(event) ||
                  (kind == EventKind::user_annotation && name.starts_with("nccl:"));
      row.device = trace_.category(event).device;
    }
    std::stable_sort(list_.begin(), list_.end(),
                     [](const RuledRow* a, const RuledRow* b) { return a->start < b->start; });
  }

  void list_memory() {
    std::vector<MemoryRecord> records(trace_.memory().begin(), trace_.memory().end());
    for (const EventId event : trace_.by_start()) {
      const bool failed = trace_.name(event) == "[OutOfMemory]";
      if (trace_.name(event) != "[memory]" && !failed) continue;
      MemoryRecord& record = records.emplace_back();
      record.time_ns = trace_.events().start_ns(event);
      record.track = trace_.events().track(event);
      record.out_of_memory = failed;
    }
    std::stable_sort(records.begin(), records.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    const std::vector<RuledRow*> events = list_;
    for (const bool failed : {false, true}) {
      for (const MemoryRecord& record : records) {
        if (record.out_of_memory != failed) continue;
        const int type = static_cast<int>(record.device_type);
        const std::int64_t bytes = type == 0 ? record.bytes : 0;
        const std::int64_t device_bytes = type == 1 || type == 20 ? record.bytes : 0;
        bool inside = false;
        for (RuledRow* row : events) {
          const bool holds = row->device == DeviceType::cpu &&
                             trace_.events().start_ns(row->event) <= record.time_ns &&
                             record.time_ns <= tree_.end_ns(row->event);
          if (failed || !holds) continue;
          inside = true;
          row->bytes += bytes;
          row->device_bytes += device_bytes;
        }
        if (inside) continue;
        RuledRow& row = add();
        row.name = failed ? "[OutOfMemory]" : "[memory]";
        row.thread = record.track;
        row.start = us(record.time_ns);
        row.end = row.start;
        if (failed) continue;
        row.bytes = bytes;
        row.device_bytes = device_bytes;
      }
    }
  }

  bool may_launch(const RuledRow& row) const {
    if (row.event == EventId::none || !row.in_tree()) return false;
    const EventKind kind = trace_.kind(row.event);
    return kind == EventKind::cpu_op || kind == EventKind::user_annotation;
  }

  void link() {
    for (const EventId event : trace_.by_start()) {
      const EventKind kind = trace_.kind(event);
      const bool work = is_device_work(kind);
      if (!work && kind != EventKind::device_other && kind != EventKind::runtime) continue;
      for (RuledRow* op : list_) {
        if (!may_launch(*op)) continue;
        if (trace_.links().external_ids_valid) {
          const std::int64_t id = trace_.external_id(event);
          if (id == 0 || trace_.external_id(op->event) != id) continue;
        } else if (!work || linked_to(event) != op->event) {
          continue;
        }
        if (kind == EventKind::runtime) {
          for (RuledRow* call : list_) {
            if (call->event == event) call->thread = op->thread;
          }
        } else {
          op->kernels.push_back(us(trace_.events().end_ns(event)) -
                                us(trace_.events().start_ns(event)));
        }
      }
    }
  }

  EventId linked_to(EventId work) const {
    for (const DeviceLink& link : links_of(trace_).device_work()) {
      if (link.activity == work) return link.op;
    }
    return EventId::none;
  }

  void nest() {
    for (std::size_t thread = 0; thread < trace_.tracks().size(); ++thread) {
      std::vector<RuledRow*> stack;
      for (RuledRow* row : list_) {
        if (!row->in_tree() || index(row->thread) != thread) continue;
        while (!stack.empty()) {
          if (row->start >= stack.back()->end || row->end > stack.back()->end) {
            stack.pop_back();
            continue;
          }
          row->parent = stack.back();
          stack.back()->children.push_back(row);
          break;
        }
        stack.push_back(row);
      }
    }
  }

  bool remove_duplicates() {
    bool any = false;
    for (RuledRow* row : list_) {
      RuledRow* parent = row->parent;
      if (parent == nullptr || parent->name != row->name || parent->children.size() != 1) continue;
      parent->children = row->children;
      parent->kernels = row->kernels;
      for (RuledRow* child : row->children) child->parent = parent;
      row->removed = true;
      any = true;
      ++duplicates_;
    }
    std::erase_if(list_, [](const RuledRow* row) { return row->removed; });
    return any;
  }

  const Trace& trace_;
  TorchTree tree_;
  std::vector<RuledRow> rows_;
  std::vector<RuledRow*> list_;
  std::size_t duplicates_ = 0;
};

}  // namespace tbtrace::analyses
