#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyses/attribution/operator_kind.h"
#include "analyses/grouping/keys.h"
#include "analyses/operators/rows.h"
#include "analyses/operators/torch_groups.h"
#include "analyses/torch/versions.h"
#include "base/threads.h"
#include "report/duration.h"
#include "report/source_report.h"

namespace tbtrace {
namespace analyses {
namespace {

using report::duration_of_us;

/// Sums of some of the figures. Has groups of its own, so that it needs nothing of the others and
/// can be filled on a thread of its own: torch's doubles depend on the order of their terms, so a
/// sum cannot be divided among threads.
template <typename Sum>
class GroupSums {
 public:
  explicit GroupSums(const SummaryOptions& options) : groups_(options) {}

  void start(const TorchEvents& events, const GroupKeys* keys,
             std::span<const std::uint32_t> values) {
    groups_.start(events, keys, values);
  }

  Sum& of(std::size_t row) {
    const std::uint32_t group = groups_.of(row);
    if (group == sums_.size()) {
      sums_.emplace_back();
      examples_.push_back(row);
    }
    return sums_[group];
  }

  /// To be called at the end of each list, which `others` has started too.
  void find_groups_in(TorchGroups& others) {
    while (others_.size() < sums_.size()) others_.push_back(others.of(examples_[others_.size()]));
  }
  /// Calls `visit(group of the others, sum)`.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t group = 0; group < sums_.size(); ++group) visit(others_[group], sums_[group]);
  }

 private:
  TorchGroups groups_;
  std::vector<Sum> sums_;              // by group
  std::vector<std::size_t> examples_;  // by group: its first row, in the list that has it
  std::vector<std::uint32_t> others_;  // by group: its number in the others' groups
};

/// Joins rows with equal keys, in order of first appearance.
class Averages {
 public:
  explicit Averages(const SummaryOptions& options)
      : options_(options),
        threads_(static_cast<std::size_t>(thread_count(options.threads))),
        python_functions_(options.include_python_functions ||
                          torch_rules(options.torch).averages_python_functions),
        groups_(options),
        device_(options),
        memory_(options) {}

  void add(const TorchEvents& events) {
    find_values(events);
    run_side_by_side(threads_, {[&] { add_cpu(events); }, [&] { add_memory(events); },
                                [&] { add_device(events); }});
    device_.find_groups_in(groups_);
    memory_.find_groups_in(groups_);
    if (!keys_) return;
    for (std::string& note : keys_->notes("events")) {
      if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(std::move(note));
    }
  }

  const std::vector<std::string>& notes() const { return notes_; }

  std::vector<OperatorRow> finish() && {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      rows_[row].count = cpu_[row].count;
      rows_[row].cpu_time_total = duration_of_us(cpu_[row].total);
      rows_[row].self_cpu_time_total = duration_of_us(cpu_[row].self);
    }
    device_.for_each([&](std::size_t row, const Device& sum) {
      rows_[row].device_time_total = duration_of_us(sum.total);
      rows_[row].self_device_time_total = duration_of_us(sum.self);
      rows_[row].flops = sum.flops;
    });
    memory_.for_each(
        [&](std::size_t row, const Memory& sum) { set_memory(rows_[row], sum.total, sum.self); });
    return std::move(rows_);
  }

 private:
  struct Cpu {
    std::int64_t count = 0;
    double total = 0;
    double self = 0;
  };
  struct Device {
    double total = 0;
    double self = 0;
    std::uint64_t flops = 0;
  };
  struct Memory {
    TorchEvents::Memory total;
    TorchEvents::Memory self;
  };

  /// Before anything is added, because GroupKeys is not for several threads at once.
  void find_values(const TorchEvents& events) {
    if (options_.by.empty()) return;
    keys_ = std::make_unique<GroupKeys>(events.trace(), options_.by);
    values_.clear();
    for (std::size_t number = 0; number < events.size(); ++number) {
      const bool counts = is_averaged(events, number);
      values_.push_back(counts ? keys_->of(events.event(number)) : 0);
    }
  }

  bool is_averaged(const TorchEvents& events, std::size_t number) const {
    return python_functions_ || !events.is_python_function(number);
  }

  void add_cpu(const TorchEvents& events) {
    groups_.start(events, keys_.get(), values_);
    for (std::size_t number = 0; number < events.size(); ++number) {
      if (!is_averaged(events, number)) continue;
      const std::uint32_t row = groups_.of(number);
      if (row == rows_.size()) start_row(events, number);
      Cpu& sum = cpu_[row];
      ++sum.count;
      const TorchEvents::Time time = events.cpu_time(number);
      sum.total += time.total_us;
      sum.self += time.self_us;
    }
  }

  void add_device(const TorchEvents& events) {
    device_.start(events, keys_.get(), values_);
    for (std::size_t number = 0; number < events.size(); ++number) {
      const TorchEvents::Time time = events.device_time(number);
      const std::uint64_t flops = events.flops(number).value_or(0);
      if (time.total_us == 0 && time.self_us == 0 && flops == 0) continue;
      if (!is_averaged(events, number)) continue;
      Device& sum = device_.of(number);
      sum.total += time.total_us;
      sum.self += time.self_us;
      sum.flops += flops;
    }
  }

  void add_memory(const TorchEvents& events) {
    memory_.start(events, keys_.get(), values_);
    events.for_each_memory([&](std::size_t number, const TorchEvents::Memory& bytes) {
      if (is_averaged(events, number)) memory_.of(number).total += bytes;
      events.for_each_part_of_self_memory(number, bytes,
                                          [&](std::size_t row, const TorchEvents::Memory& part) {
                                            if (is_averaged(events, row))
                                              memory_.of(row).self += part;
                                          });
    });
  }

  void start_row(const TorchEvents& events, std::size_t number) {
    cpu_.emplace_back();
    OperatorRow& row = rows_.emplace_back();
    row.key = events.text(events.name(number));
    row.device_type = events.device_type(number);
    row.kind = operator_kind(events.trace(), events.event(number));
    row.is_user_annotation = events.is_user_annotation(number);
    row.is_async = events.is_async(number);
    row.has_cpu_parent = events.parent(number) != TorchEvents::kNoParent;
    if (options_.group_by_overload_name) row.overload_name = events.text(events.overload(number));
    if (options_.group_by_input_shape) row.input_shapes = events.shapes(number);
    if (keys_) row.values = keys_->values(values_[number]);
    if (options_.group_by_stack_n <= 0) return;
    const auto count = static_cast<std::size_t>(options_.group_by_stack_n);
    for (const NameId frame : events.frames(events.stack(number), count)) {
      row.stack.emplace_back(events.text(frame));
    }
  }

  const SummaryOptions& options_;
  std::size_t threads_;
  bool python_functions_;
  std::unique_ptr<GroupKeys> keys_;    // of the last list; null: no keys
  std::vector<std::uint32_t> values_;  // by row of the last list, of keys_
  std::vector<std::string> notes_;
  TorchGroups groups_;
  std::vector<OperatorRow> rows_;  // by group
  std::vector<Cpu> cpu_;           // likewise
  GroupSums<Device> device_;
  GroupSums<Memory> memory_;
};

}  // namespace

}  // namespace analyses

OperatorSummary operator_summary(const Trace& trace, const SummaryOptions& options) {
  const Trace* traces[] = {&trace};
  return *operator_summary(traces, options, SameProcess::known);
}

Result<OperatorSummary> operator_summary(std::span<const Trace* const> traces,
                                         const SummaryOptions& options, SameProcess same_process) {
  if (same_process == SameProcess::checked) {
    if (Status same = check_same_process(traces); !same.ok()) return same;
  }
  analyses::Averages averages(options);
  // torch puts the newest recording before the earlier ones.
  for (std::size_t trace = traces.size(); trace-- > 0;) {
    averages.add(analyses::TorchEvents(*traces[trace], {.shapes = options.group_by_input_shape,
                                                        .stacks = options.group_by_stack_n > 0,
                                                        .stack_source = options.stack_source,
                                                        .threads = thread_count(options.threads)}));
  }
  OperatorRows rows = analyses::table_facts(traces);
  rows.grouped_by_shape = options.group_by_input_shape;
  rows.by = options.by;
  rows.notes = averages.notes();
  rows.rows = std::move(averages).finish();
  return OperatorSummary(std::move(rows), Figures::torch, report::source_report(traces));
}

}  // namespace tbtrace
