#include "analyses/torch_events.h"

#include <algorithm>

#include "analyses/torch_backward.h"
#include "analyses/torch_devices.h"
#include "analyses/torch_inputs.h"
#include "analyses/torch_memory.h"
#include "analyses/torch_nesting.h"
#include "analyses/torch_tree.h"
#include "trace/collective_names.h"

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

  double us(std::int64_t time_ns) const {
    return static_cast<double>(time_ns - trace_.window_start_ns()) / 1000.0;
  }

  NameId name_of(EventId event) {
    if (is_lost(event)) return stacks_->python_name(event);
    return names_.get(trace_.events().name(event), trace_.kind(event) == EventKind::cpu_op).name;
  }

  std::int64_t end_ns(EventId event) const {
    return tree_ != nullptr ? tree_->end_ns(event) : trace_.events().end_ns(event);
  }

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
      if (name.is_left_out) continue;
      add(event, category, is_lost(event) ? stacks_->python_name(event) : name.name);
    }
    if (shadows) restore_order();
  }

  /// Adds a row for each record that is inside no event.
  void add_memory_rows(TorchMemory& memory) {
    for (const Row& row : list_.rows) {
      if (row.device() != DeviceType::cpu) continue;
      memory.cover(trace_.events().start_ns(row.event), end_ns(row.event));
    }
    leftovers_ = memory.leftovers();
    for (const TorchMemory::Leftover& leftover : leftovers_) {
      Row row = {};
      row.start_us = us(leftover.record.time_ns);
      row.end_us = row.start_us;
      row.event = EventId::none;
      row.name = names_.intern(leftover.record.out_of_memory ? "[OutOfMemory]" : "[memory]");
      row.track = leftover.record.track;
      row.parent = TorchRows::kNone;
      row.flags = TorchRows::kInTree;
      list_.rows.push_back(row);
    }
  }

  /// Sets the memory of each row, once the rows are sorted.
  void fill_memory(TorchMemory& memory) {
    auto leftover = leftovers_.begin();
    for (std::uint32_t number = 0; number < list_.rows.size(); ++number) {
      const Row& row = list_.rows[number];
      TorchRows::Memory bytes;
      if (row.event == EventId::none) {
        bytes = leftover++->bytes;
      } else if (row.device() == DeviceType::cpu) {
        bytes = memory.within(trace_.events().start_ns(row.event), end_ns(row.event));
      }
      if (bytes != TorchRows::Memory()) list_.memory.push_back({number, bytes});
    }
  }

 private:
  /// The event's own name was lost, but may be in the stacks.
  bool is_lost(EventId event) const {
    return stacks_ != nullptr && trace_.events().is_python_frame(event) &&
           trace_.name(event) == kUnknown;
  }

  void add(EventId event, const Category& category, NameId name) {
    std::int64_t start = trace_.events().start_ns(event);
    std::int64_t end = end_ns(event);
    Row row = {};
    row.name = name;
    const bool annotation = category.kind == EventKind::user_annotation;
    const bool shadow = category.kind == EventKind::gpu_user_annotation;
    if (annotation || shadow) row.flags |= TorchRows::kAnnotation;
    if (shadow && end - start >= widening_.length_ns) {
      end += widening_.front_ns - widening_.length_ns;
      start += widening_.front_ns;
    }
    // c10d ends the ranges of collectives on another thread; the file does not say so.
    const bool async = trace_.events().unfinished(event) ||
                       trace_.events().is_asynchronous(event) ||
                       (annotation && is_collective_name(names_.text(row.name)));
    if (async) row.flags |= TorchRows::kAsync;
    if (!async && category.device == DeviceType::cpu) row.flags |= TorchRows::kInTree;
    row.start_us = us(start);
    row.end_us = us(end);
    row.event = event;
    row.track = trace_.events().track(event);
    row.parent = TorchRows::kNone;
    row.device_number = static_cast<std::uint8_t>(category.device);
    list_.rows.push_back(row);
  }

  /// Annotations on devices have moved. Among rows that start together, profiler events come first,
  /// then the others in file order.
  void restore_order() {
    const auto from_kineto = [&](const Row& row) {
      return trace_.kind(row.event) > EventKind::python_function;
    };
    const auto before = [&](const Row& a, const Row& b) {
      if (a.start_us != b.start_us) return a.start_us < b.start_us;
      const bool a_late = from_kineto(a);
      const bool b_late = from_kineto(b);
      if (a_late != b_late) return b_late;
      return a_late && a.event < b.event;
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
  Widening widening_;
  std::vector<TorchMemory::Leftover> leftovers_;
};

/// torch's C++ tree is needed for ranges that never ended, for stacks, and for names that are only
/// in the stacks.
bool needs_tree(const Trace& trace, bool stacks) {
  const Events& events = trace.events();
  bool names_lost = false;
  for (const EventId event : trace.by_start()) {
    if (events.unfinished(event)) return true;
    names_lost = names_lost || (events.is_python_frame(event) && trace.name(event) == kUnknown);
  }
  return !trace.argument(Argument::call_stack).empty() && (stacks || names_lost);
}

}  // namespace

TorchEvents::TorchEvents(const Trace& trace, const TorchEventOptions& options)
    : trace_(&trace), names_(std::make_unique<TorchNames>(trace)) {
  std::optional<ForwardThreads> forward;
  std::optional<TorchTree> tree;
  if (needs_tree(trace, options.stacks)) {
    forward.emplace(trace);
    tree.emplace(trace, *forward);
    if (!trace.argument(Argument::call_stack).empty()) {
      stacks_ = std::make_unique<TorchStacks>(trace, *tree, *names_);
    }
  }
  const std::size_t threads = trace.tracks().size();
  Collector collector(trace, *names_, tree ? &*tree : nullptr, stacks_.get(), list_);
  collector.collect();
  const std::size_t events = list_.rows.size();
  {
    TorchMemory memory(trace, *names_);
    if (!memory.empty()) collector.add_memory_rows(memory);
    sort_rows(list_, events);
    if (!memory.empty()) collector.fill_memory(memory);
  }
  if (trace.device()) {
    link_devices(
        list_, trace, [&](EventId event) { return collector.name_of(event); },
        [&](std::int64_t time_ns) { return collector.us(time_ns); });
  }
  nest_rows(list_, threads);
  remove_duplicates(list_);
  if (options.stacks && stacks_ != nullptr) set_stacks(list_, trace, *names_, *stacks_, *forward);
  add_up_children(list_);
  if (trace.device()) add_up_device_time(list_, threads);
  const bool flops = trace.is_set("with_flops");
  if (options.shapes || flops) describe_inputs(list_, trace, *names_, options.shapes, flops);
}

NameId TorchEvents::overload(std::size_t row) const {
  if (is_memory_row(row) || trace_->kind(event(row)) != EventKind::cpu_op) return 0;
  return names_->get(trace_->events().name(event(row)), true).overload;
}

std::vector<NameId> TorchEvents::frames(StackId stack, std::size_t count) const {
  return stacks_ == nullptr ? std::vector<NameId>() : stacks_->frames(stack, count);
}

std::optional<std::uint64_t> TorchEvents::flops(std::size_t row) const {
  if (is_memory_row(row)) return std::nullopt;
  return list_.flops.empty() ? 0 : list_.flops[row];
}

}  // namespace tbtrace::analyses
