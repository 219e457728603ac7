#include "analyses/torch/events.h"

#include <algorithm>

#include "analyses/attribution/collective_names.h"
#include "analyses/torch/backward.h"
#include "analyses/torch/devices.h"
#include "analyses/torch/inputs.h"
#include "analyses/torch/memory.h"
#include "analyses/torch/nesting.h"
#include "analyses/torch/tree.h"
#include "base/threads.h"
#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

using Row = TorchRows::Row;

constexpr std::string_view kUnknown = "unknown";

/// How much Kineto's writer widens annotations on devices so that viewers nest them: 1 us at the
/// front while times were whole microseconds, 1 ns on both sides since 2024.
struct Widening {
  std::int64_t front_ns = 0;
  std::int64_t length_ns = 0;
};

Widening find_widening(const Trace& trace) {
  const Events& events = trace.events();
  const bool whole = std::all_of(trace.by_start().begin(), trace.by_start().end(), [&](EventId e) {
    return events.start_ns(e) % 1000 == 0 && events.duration_ns(e) % 1000 == 0;
  });
  return whole ? Widening{1000, 1000} : Widening{1, 2};
}

/// The C++ part of the list: rows in the order in which torch gets them from Kineto.
class Collector {
 public:
  Collector(const Trace& trace, TorchNames& names, const TorchTree* tree, TorchStacks* stacks,
            TorchRows& list)
      : trace_(trace), names_(names), tree_(tree), stacks_(stacks), list_(list) {}

  void collect() {
    list_.rows.reserve(trace_.events().size());
    const std::span<const Category> categories = trace_.categories();
    const bool shadows = std::any_of(categories.begin(), categories.end(), [](const Category& c) {
      return c.kind == EventKind::gpu_user_annotation;
    });
    if (shadows) widening_ = find_widening(trace_);
    for (const EventId event : trace_.by_start()) {
      const Category& category = trace_.category(event);
      if (category.kind == EventKind::trace_span) continue;
      const bool op = category.kind == EventKind::cpu_op;
      const TorchName& name = names_.get(trace_.events().name(event), op);
      if (name.is_left_out) {
        if (name.is_memory || name.is_out_of_memory) add_record(event, name.is_out_of_memory);
        continue;
      }
      add(event, category, is_lost(event) ? stacks_->python_name(event) : name.name);
    }
    if (shadows) restore_order();
  }

  /// Events with the name of a memory record.
  std::span<const MemoryRecord> records() const { return records_; }

  /// Adds a row for each record that is inside no event.
  void add_memory_rows(TorchMemory& memory) {
    for (const Row& row : list_.rows) {
      if (row.has(TorchRows::kOnCpu)) memory.cover(list_.start_ns(row), list_.end_ns(row));
    }
    list_.leftovers = memory.leftovers();
    for (std::uint32_t number = 0; number < list_.leftovers.size(); ++number) {
      const MemoryRecord& record = list_.leftovers[number];
      Row row = {};
      row.number = number;
      row.name = names_.intern(record.out_of_memory ? "[OutOfMemory]" : "[memory]");
      row.track = record.track;
      row.parent = TorchRows::kNone;
      row.flags = TorchRows::kMemory | TorchRows::kInTree | TorchRows::kOnCpu;
      list_.rows.push_back(row);
    }
  }

 private:
  /// The event's own name was lost, but may be in the stacks.
  bool is_lost(EventId event) const {
    return stacks_ != nullptr && trace_.events().is_python_frame(event) &&
           trace_.name(event) == kUnknown;
  }

  void add_record(EventId event, bool out_of_memory) {
    MemoryRecord& record = records_.emplace_back();
    record.time_ns = trace_.events().start_ns(event);
    record.track = trace_.events().track(event);
    record.out_of_memory = out_of_memory;
  }

  void add(EventId event, const Category& category, NameId name) {
    const Events& events = trace_.events();
    const std::int64_t own_start = events.start_ns(event);
    const std::int64_t own_end = events.end_ns(event);
    std::int64_t start = own_start;
    std::int64_t end = tree_ != nullptr ? tree_->end_ns(event) : own_end;
    unsigned flags = 0;
    const bool annotation = category.kind == EventKind::user_annotation;
    const bool shadow = category.kind == EventKind::gpu_user_annotation;
    if (annotation || shadow) flags |= TorchRows::kAnnotation;
    if (shadow && end - start >= widening_.length_ns) {
      end += widening_.front_ns - widening_.length_ns;
      start += widening_.front_ns;
    }
    // c10d ends the ranges of collectives on another thread; the file does not say so.
    const bool async = without_end_.contains(event) || events.is_asynchronous(event) ||
                       (annotation && is_collective_name(names_.text(name)));
    if (async) flags |= TorchRows::kAsync;
    if (category.device == DeviceType::cpu) {
      flags |= async ? TorchRows::kOnCpu : TorchRows::kOnCpu | TorchRows::kInTree;
    }
    // Written field by field where it stays: a copy would wait for the stores of its parts.
    Row& row = *list_.rows.extend(1);
    row.number = static_cast<std::uint32_t>(event);
    row.name = name;
    row.parent = TorchRows::kNone;
    row.track = events.track(event);
    row.flags = static_cast<std::uint8_t>(flags);
    if (start != own_start || end != own_end) list_.set_times(row, {start, end});
  }

  /// Annotations on devices have moved. Among rows that start together, profiler events come first,
  /// then the others in file order.
  void restore_order() {
    const auto from_kineto = [&](const Row& row) {
      return trace_.kind(row.event()) > EventKind::python_function;
    };
    const auto before = [&](const Row& a, const Row& b) {
      const double a_start = list_.start_us(a);
      const double b_start = list_.start_us(b);
      if (a_start != b_start) return a_start < b_start;
      const bool a_late = from_kineto(a);
      const bool b_late = from_kineto(b);
      if (a_late != b_late) return b_late;
      return a_late && a.number < b.number;
    };
    if (!std::is_sorted(list_.rows.begin(), list_.rows.end(), before)) {
      std::stable_sort(list_.rows.begin(), list_.rows.end(), before);
    }
  }

  const Trace& trace_;
  TorchNames& names_;
  const TorchTree* tree_;
  TorchStacks* stacks_;
  TorchRows& list_;
  std::vector<MemoryRecord> records_;
  Widening widening_;
  const RangesWithoutEnd without_end_{trace_};
};

/// torch's C++ tree is needed for ranges that never ended, for stacks, and for names that are only
/// in the stacks.
bool needs_tree(const Trace& trace, const TorchEventOptions& options) {
  const Events& events = trace.events();
  const RangesWithoutEnd without_end(trace);
  bool names_lost = false;
  for (const EventId event : trace.by_start()) {
    if (without_end.contains(event)) return true;
    names_lost = names_lost || (events.is_python_frame(event) && trace.name(event) == kUnknown);
  }
  if (options.stacks && has_stacks(trace, options.stack_source)) return true;
  return names_lost && !trace.argument(Argument::call_stack).empty();
}

}  // namespace

TorchEvents::TorchEvents(const Trace& trace, const TorchEventOptions& options)
    : names_(std::make_unique<TorchNames>(trace)), list_(trace) {
  const std::size_t tracks = trace.tracks().size();
  const auto threads = static_cast<std::size_t>(options.threads);
  std::optional<ForwardThreads> forward;
  std::optional<TorchTree> tree;
  const auto list_rows = [&] {
    if (needs_tree(trace, options)) {
      forward.emplace(trace);
      tree.emplace(trace, *forward);
      if (!trace.argument(Argument::call_stack).empty() ||
          (options.stacks && has_stacks(trace, options.stack_source))) {
        stacks_ = std::make_unique<TorchStacks>(trace, *tree, *names_, options.stack_source);
      }
    }
    Collector collector(trace, *names_, tree ? &*tree : nullptr, stacks_.get(), list_);
    collector.collect();
    const std::size_t events = list_.rows.size();
    auto memory = std::make_unique<TorchMemory>(trace.memory(), collector.records());
    if (!memory->empty()) {
      collector.add_memory_rows(*memory);
      memory_ = std::move(memory);
    }
    sort_rows(list_, events);
  };
  const auto link = [&] {
    if (list_.has_device) links_of(trace);
  };
  run_side_by_side(threads, {link, list_rows});

  std::optional<TorchDevices> devices;
  if (list_.has_device) devices.emplace(list_).move_calls();
  bool duplicates = false;
  const auto nest = [&] { duplicates = nest_rows(list_, tracks); };
  const auto list_kernels = [&] {
    if (devices) devices->list_kernels(*names_);
  };
  // The first changes rows, the second kernels and names.
  run_side_by_side(threads, {nest, list_kernels});
  devices.reset();
  if (duplicates) list_.drop_removed();

  const auto describe = [&] {
    if (options.stacks && stacks_ != nullptr) {
      set_stacks(list_, trace, *names_, *stacks_, *forward);
    }
    const bool flops = trace.is_set("with_flops");
    if (options.shapes || flops) describe_inputs(list_, trace, *names_, options.shapes, flops);
  };
  const auto add_up_devices = [&] {
    if (list_.has_device) add_up_device_time(list_, tracks);
  };
  // Each fills columns of its own; only the first uses names.
  run_side_by_side(threads, {describe, [&] { add_up_children(list_); }, add_up_devices});
}

TorchEvents::~TorchEvents() = default;

TorchRows::Memory TorchEvents::memory(std::size_t row, std::size_t& near) const {
  const Row& entry = list_.rows[row];
  if (entry.has(TorchRows::kMemory)) return TorchMemory::bytes_of(list_.leftovers[entry.number]);
  if (!entry.has(TorchRows::kOnCpu)) return {};
  return memory_->within(list_.start_ns(entry), list_.end_ns(entry), near);
}

NameId TorchEvents::overload(std::size_t row) const {
  if (is_memory_row(row) || trace().kind(event(row)) != EventKind::cpu_op) return 0;
  return names_->known(trace().events().name(event(row)), true).overload;
}

std::vector<NameId> TorchEvents::frames(StackId stack, std::size_t count) const {
  return stacks_ == nullptr ? std::vector<NameId>() : stacks_->frames(stack, count);
}

}  // namespace tbtrace::analyses
