// The exact operator summary: integer nanoseconds and bytes that add up.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyses/attribution/operator_kind.h"
#include "analyses/attribution/owners.h"
#include "analyses/grouping/keys.h"
#include "analyses/grouping/stacks.h"
#include "analyses/operators/exact_rows.h"
#include "analyses/operators/row_groups.h"
#include "analyses/operators/rows.h"
#include "analyses/torch/names.h"
#include "analyses/torch/operator_flops.h"
#include "base/bounded_sum.h"
#include "base/column.h"
#include "report/duration.h"
#include "report/source_report.h"
#include "trace/call_tree.h"
#include "trace/input_lists.h"
#include "trace/links.h"
#include "trace/self_times.h"
#include "trace/times.h"
#include "trace/trace_data.h"
#include "trace/track_keys.h"

namespace tbtrace {

namespace analyses {
namespace {

using report::duration_of_ns;

/// What ranges used besides host time.
struct Spent {
  WideInteger device_ns = 0;
  WideInteger cpu_bytes = 0;
  WideInteger device_bytes = 0;

  Spent& operator+=(const Spent& other) {
    device_ns += other.device_ns;
    cpu_bytes += other.cpu_bytes;
    device_bytes += other.device_bytes;
    return *this;
  }
};

/// The sums of a row; clamped to 64 bits once complete.
struct RowSums {
  WideInteger total_ns = 0;
  WideInteger self_ns = 0;
  Spent total;
  Spent self;
};

/// Where a row was last seen.
struct Seen {
  std::uint32_t trace = 0;
  std::uint32_t first = UINT32_MAX;  ///< its place among the rows of a trace; the lowest of all
};

void set_spent(OperatorRow& row, const Spent& total, const Spent& self) {
  row.device_time_total = duration_of_ns(bounded(total.device_ns));
  row.self_device_time_total = duration_of_ns(bounded(self.device_ns));
  row.cpu_memory_usage_bytes = bounded(total.cpu_bytes);
  row.self_cpu_memory_usage_bytes = bounded(self.cpu_bytes);
  row.device_memory_usage_bytes = bounded(total.device_bytes);
  row.self_device_memory_usage_bytes = bounded(self.device_bytes);
}

class ExactSummary {
 public:
  explicit ExactSummary(const SummaryOptions& options) : options_(options) {}

  void add(const Trace& trace) {
    ++trace_number_;
    rows_of_trace_ = 0;
    names_ = std::make_unique<TorchNames>(trace);
    stacks_ = std::make_unique<StackGroups>(
        trace, *names_, static_cast<std::size_t>(std::max(options_.group_by_stack_n, 0)),
        options_.stack_source);
    if (!options_.by.empty()) keys_ = std::make_unique<GroupKeys>(trace, options_.by);
    values_.clear();
    find_rows(trace);
    add_spent(trace);
    add_ranges(trace);
    add_device_rows(trace);
    add_threads(trace);
    if (keys_) {
      for (std::string& note : keys_->notes("events")) add_note(std::move(note));
    }
    keys_.reset();
    stacks_.reset();
    names_.reset();
    const Trace* traces[] = {&trace};
    add_facts(table_facts(traces));
    report::add_source(source_, report::source_report(trace));
  }

  ExactParts finish() && {
    ExactParts parts;
    for (std::size_t row = 0; row < sums_.size(); ++row) {
      OperatorRow& figures = groups_[row];
      figures.cpu_time_total = duration_of_ns(bounded(sums_[row].total_ns));
      figures.self_cpu_time_total = duration_of_ns(bounded(sums_[row].self_ns));
      set_spent(figures, sums_[row].total, sums_[row].self);
      parts.first.push_back(seen_[row].first);
    }
    parts.rows = std::move(facts_);
    parts.rows.grouped_by_shape = options_.group_by_input_shape;
    parts.rows.by = options_.by;
    parts.rows.notes = std::move(notes_);
    parts.rows.rows = std::move(groups_.rows());
    parts.unattributed = {bounded(unattributed_.device_ns), bounded(unattributed_.cpu_bytes),
                          bounded(unattributed_.device_bytes)};
    parts.threads = std::move(threads_);
    parts.window_ns = window_ns_;
    parts.source = std::move(source_);
    return parts;
  }

 private:
  /// Of traces with several kinds of devices the kind with the lowest number, in any order.
  void add_facts(const OperatorRows& facts) {
    if (!facts_.use_device || (facts.use_device && *facts.use_device < *facts_.use_device)) {
      facts_.use_device = facts.use_device;
    }
    facts_.profile_memory = facts_.profile_memory || facts.profile_memory;
    facts_.with_flops = facts_.with_flops || facts.with_flops;
  }

  void find_rows(const Trace& trace) {
    row_of_range_.resize(trace.events().size(), 0);
    for (const EventId event : call_tree_of(trace).ranges()) {
      row_of_range_[index(event)] = static_cast<std::uint32_t>(row_of(trace, event));
    }
  }

  /// Adds device time and memory to the rows of the owning ranges, and to these ranges and all
  /// around them.
  void add_spent(const Trace& trace) {
    const CallTree& tree = call_tree_of(trace);
    below_.assign(trace.events().size(), {});
    const auto add = [&](EventId owner, const Spent& spent) {
      if (owner == EventId::none) {
        unattributed_ += spent;
        return;
      }
      sums_[row_of_range_[index(owner)]].self += spent;
      below_[index(owner)] += spent;
    };
    for (const DeviceLink& link : links_of(trace).device_work()) {
      add(owner_of_work(tree, link), {.device_ns = trace.events().duration_ns(link.activity)});
    }
    for_each_memory_owner(trace, tree, [&](const MemoryRecord& record, EventId owner) {
      if (record.out_of_memory) return;
      Spent spent;
      if (is_cpu_memory(record.device_type)) spent.cpu_bytes = record.bytes;
      if (is_device_memory(record.device_type)) spent.device_bytes = record.bytes;
      add(owner, spent);
    });
    const std::span<const EventId> ranges = tree.ranges();
    for (std::size_t range = ranges.size(); range-- > 0;) {
      const EventId parent = tree.parent(ranges[range]);
      if (parent != EventId::none) below_[index(parent)] += below_[index(ranges[range])];
    }
  }

  void add_ranges(const Trace& trace) {
    const CallTree& tree = call_tree_of(trace);
    // Per thread: the open ranges and their rows, to count nested calls of a row once.
    struct Open {
      EventId event;
      std::size_t row;
    };
    struct Calls {
      std::uint32_t depth = 0;
      std::int64_t counted_until = std::numeric_limits<std::int64_t>::min();
    };
    std::vector<std::vector<Open>> threads(trace.tracks().size());
    std::unordered_map<std::uint64_t, Calls> calls;  // by thread and row
    for (const EventId event : tree.ranges()) {
      const std::size_t row = row_of_range_[index(event)];
      const std::size_t thread = index(trace.events().track(event));
      std::vector<Open>& open = threads[thread];
      const auto calls_of = [&](std::size_t of_row) -> Calls& {
        return calls[std::uint64_t{thread} << 32 | of_row];
      };
      while (!open.empty() && open.back().event != tree.parent(event)) {
        --calls_of(open.back().row).depth;
        open.pop_back();
      }
      open.push_back({event, row});
      Calls& same = calls_of(row);
      add_range(trace, event, row, same.depth++ == 0);
      // A call that starts inside another call of the same row may end after it.
      const std::int64_t end = trace.events().end_ns(event);
      const std::int64_t start = std::max(trace.events().start_ns(event), same.counted_until);
      if (end > start) sums_[row].total_ns += end - start;
      same.counted_until = std::max(same.counted_until, end);
    }
  }

  void add_range(const Trace& trace, EventId event, std::size_t row, bool outermost) {
    OperatorRow& figures = groups_[row];
    RowSums& sums = sums_[row];
    ++figures.count;
    sums.self_ns += self_times_of(trace).ns(event);
    figures.flops += flops_of(trace, event);
    if (outermost) sums.total += below_[index(event)];
  }

  void add_device_rows(const Trace& trace) {
    for (const DeviceLink& link : links_of(trace).device_work()) {
      const std::size_t row = row_of(trace, link.activity);
      const Spent spent = {.device_ns = trace.events().duration_ns(link.activity)};
      ++groups_[row].count;
      sums_[row].total += spent;
      sums_[row].self += spent;
    }
  }

  /// The window includes everything that was recorded, on all threads and devices; of a part, the
  /// time of the host.
  void add_threads(const Trace& trace) {
    const Events& events = trace.events();
    std::int64_t start = trace.window_start_ns();
    std::int64_t end = trace.window_end_ns();
    std::vector<bool> has_ranges(trace.tracks().size(), false);
    const LostTimes lost(trace);
    const std::optional<PartTime> part = part_time_of(trace);
    if (part) std::tie(start, end) = std::pair(part->host.start, part->host.end);
    for (const EventId event : trace.by_start()) {
      if (!part && !lost.contains(event)) {
        start = std::min(start, events.start_ns(event));
        end = std::max(end, events.end_ns(event));
      }
      if (is_host_range(trace.kind(event))) has_ranges[index(events.track(event))] = true;
    }
    add_bounded(window_ns_, end - start);
    for (std::size_t thread = 0; thread < has_ranges.size(); ++thread) {
      if (!has_ranges[thread]) continue;
      const Track& track = trace.tracks()[thread];
      const std::int64_t busy = self_times_of(trace).busy_ns()[thread];
      threads_.push_back({key_text(trace, track.process), key_text(trace, track.thread),
                          std::string(trace.string(track.thread_name)), busy, end - start - busy});
    }
  }

  std::size_t row_of(const Trace& trace, EventId event) {
    const EventKind kind = trace.kind(event);
    const TorchName& name = names_->get(trace.events().name(event), kind == EventKind::cpu_op);
    RowGroups::Key key;
    key.name = groups_.number(names_->text(name.name));
    key.device = trace.category(event).device;
    key.annotation = kind == EventKind::user_annotation;
    std::string shapes;
    if (options_.group_by_overload_name) key.overload = groups_.number(names_->text(name.overload));
    if (options_.group_by_input_shape) {
      shapes = shapes_of(trace, inputs_of(trace, event));
      key.shapes = groups_.number(shapes);
    }
    std::vector<std::string> stack = stacks_->of(event);
    key.stack = groups_.number(joined(stack));
    std::uint32_t values = 0;
    if (keys_) {
      values = keys_->of(event);
      key.values = number_of_values(values);
    }
    bool added = false;
    const std::size_t row = groups_.find(key, added);
    if (added) {
      if (keys_) groups_[row].values = keys_->values(values);
      sums_.emplace_back();
      seen_.emplace_back();
      if (options_.group_by_overload_name) groups_[row].overload_name = names_->text(name.overload);
      groups_[row].input_shapes = std::move(shapes);
      groups_[row].stack = std::move(stack);
    }
    if (seen_[row].trace != trace_number_) see_first(trace, event, row);
    return row;
  }

  /// Of values that keys_ has numbered.
  std::uint32_t number_of_values(std::uint32_t values) {
    for (std::size_t next = values_.size(); next <= values; ++next) {
      values_.push_back(groups_.number(keys_->bytes(static_cast<std::uint32_t>(next))));
    }
    return values_[values];
  }

  /// Several traces may say the same.
  void add_note(std::string note) {
    if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(std::move(note));
  }

  /// For the first event of a row in a trace.
  void see_first(const Trace& trace, EventId event, std::size_t row) {
    OperatorRow& figures = groups_[row];
    const OperatorKind kind = operator_kind(trace, event);
    const bool has_parent =
        is_host_range(trace.kind(event)) && call_tree_of(trace).parent(event) != EventId::none;
    Seen& seen = seen_[row];
    const bool is_first = seen.trace == 0;
    figures.kind = is_first ? kind : std::min(figures.kind, kind);
    figures.has_cpu_parent = has_parent && (is_first || figures.has_cpu_parent);
    seen = {trace_number_, std::min(seen.first, rows_of_trace_++)};
  }

  std::uint64_t flops_of(const Trace& trace, EventId event) const {
    if (!trace.is_set("with_flops") || trace.kind(event) != EventKind::cpu_op) return 0;
    const InputTexts inputs = inputs_of(trace, event);
    if (!inputs.is_given()) return 0;
    const TorchName& name = names_->get(trace.events().name(event), true);
    if (!has_flops(names_->text(name.name))) return 0;
    return operator_flops(names_->text(name.name), {parse_dims(trace.string(inputs.dims)),
                                                    parse_texts(trace.string(inputs.types)),
                                                    parse_texts(trace.string(inputs.concrete))});
  }

  SummaryOptions options_;
  OperatorRows facts_;  // without rows
  SourceReport source_;
  std::vector<std::string> notes_;
  RowGroups groups_;
  std::vector<RowSums> sums_;       // by row
  std::vector<Seen> seen_;          // by row
  std::uint32_t trace_number_ = 0;  // from 1
  std::vector<ThreadTotal> threads_;
  std::int64_t window_ns_ = 0;
  Spent unattributed_;

  // For the trace that is being added.
  std::uint32_t rows_of_trace_ = 0;
  std::unique_ptr<TorchNames> names_;
  std::unique_ptr<StackGroups> stacks_;
  std::unique_ptr<GroupKeys> keys_;     // null: no keys
  std::vector<std::uint32_t> values_;   // of keys_, to groups_
  Column<std::uint32_t> row_of_range_;  // by event
  std::vector<Spent> below_;            // by event: used by it and everything below it
};

}  // namespace

ExactParts exact_parts(const Trace& trace, const SummaryOptions& options) {
  ExactSummary summary(options);
  summary.add(trace);
  return std::move(summary).finish();
}

}  // namespace analyses

OperatorSummary exact_operator_summary(const Trace& trace, const SummaryOptions& options) {
  const Trace* traces[] = {&trace};
  return exact_operator_summary(traces, options);
}

OperatorSummary exact_operator_summary(std::span<const Trace* const> traces,
                                       const SummaryOptions& options) {
  ExactSummaryBuilder sums(options);
  for (const Trace* trace : traces) sums.add(*trace);
  return std::move(sums).finish();
}

class ExactSummaryBuilder::Sums final : public analyses::ExactSummary {
 public:
  using ExactSummary::ExactSummary;
};

ExactSummaryBuilder::ExactSummaryBuilder(const SummaryOptions& options)
    : sums_(std::make_unique<Sums>(options)) {}

ExactSummaryBuilder::~ExactSummaryBuilder() = default;

void ExactSummaryBuilder::add(const Trace& trace) { sums_->add(trace); }

OperatorSummary ExactSummaryBuilder::finish() && {
  return analyses::exact_summary_of(std::move(*sums_).finish());
}

}  // namespace tbtrace
