#include <limits>
#include <unordered_map>

#include "analyses/exact_summary.h"
#include "analyses/operator_rows.h"
#include "analyses/plugin_operators.h"
#include "analyses/row_groups.h"
#include "analyses/source_report.h"
#include "base/bounded_sum.h"
#include "report/duration.h"

namespace tbtrace {
namespace analyses {
namespace {

using report::duration_of_us;

/// Joins rows with equal keys, in order of first appearance.
class Averages {
 public:
  explicit Averages(const SummaryOptions& options) : options_(options) {}

  void add(const TorchEvents& events) {
    names_.assign(1, 0);
    stacks_.clear();
    for (std::size_t row = 0; row < events.size(); ++row) add(events, row);
    events.for_each_memory([&](std::size_t number, const TorchEvents::Memory& bytes) {
      sums_[row_of(events, number)].memory += bytes;
    });
    events.for_each_part_of_self_memory([&](std::size_t number, const TorchEvents::Memory& bytes) {
      sums_[row_of(events, number)].self_memory += bytes;
    });
  }

  std::vector<OperatorRow> finish() && {
    std::vector<OperatorRow>& rows = groups_.rows();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const Sums& sums = sums_[row];
      rows[row].cpu_time_total = duration_of_us(sums.cpu);
      rows[row].self_cpu_time_total = duration_of_us(sums.self_cpu);
      rows[row].device_time_total = duration_of_us(sums.device);
      rows[row].self_device_time_total = duration_of_us(sums.self_device);
      set_memory(rows[row], sums.memory, sums.self_memory);
    }
    return std::move(rows);
  }

 private:
  struct Sums {
    double cpu = 0;
    double self_cpu = 0;
    double device = 0;
    double self_device = 0;
    TorchEvents::Memory memory;
    TorchEvents::Memory self_memory;
  };

  std::size_t row_of(const TorchEvents& events, std::size_t number) {
    RowGroups::Key key;
    key.name = own(events, events.name(number));
    key.device = events.device_type(number);
    key.annotation = events.is_user_annotation(number);
    if (options_.group_by_overload_name) key.overload = own(events, events.overload(number));
    if (options_.group_by_input_shape) key.shapes = groups_.number(events.shapes(number));
    if (options_.group_by_stack_n > 0) key.stack = own_stack(events, events.stack(number));
    bool added = false;
    const std::size_t row = groups_.find(key, added);
    if (added) start(events, number);
    return row;
  }

  void add(const TorchEvents& events, std::size_t number) {
    const std::size_t row = row_of(events, number);
    add_to(groups_[row], sums_[row], events, number);
  }

  void start(const TorchEvents& events, std::size_t number) {
    OperatorRow& row = groups_.rows().back();
    sums_.emplace_back();
    row.is_async = events.is_async(number);
    row.has_cpu_parent = events.parent(number) != TorchEvents::kNoParent;
    if (options_.group_by_overload_name) row.overload_name = events.text(events.overload(number));
    if (options_.group_by_input_shape) row.input_shapes = events.shapes(number);
    if (options_.group_by_stack_n <= 0) return;
    const auto count = static_cast<std::size_t>(options_.group_by_stack_n);
    for (const NameId frame : events.frames(events.stack(number), count)) {
      row.stack.emplace_back(events.text(frame));
    }
  }

  static void add_to(OperatorRow& row, Sums& sums, const TorchEvents& events, std::size_t number) {
    ++row.count;
    sums.cpu += events.cpu_time_us(number);
    sums.self_cpu += events.self_cpu_time_us(number);
    sums.device += events.device_time_us(number);
    sums.self_device += events.self_device_time_us(number);
    row.flops += events.flops(number).value_or(0);
  }

  std::uint32_t own(const TorchEvents& events, NameId name) {
    if (name >= names_.size()) names_.resize(name + 1, kUnset);
    if (names_[name] == kUnset) names_[name] = groups_.number(events.text(name));
    return names_[name];
  }

  std::uint32_t own_stack(const TorchEvents& events, StackId stack) {
    const auto [known, added] = stacks_.try_emplace(stack, 0);
    if (!added) return known->second;
    const auto count = static_cast<std::size_t>(options_.group_by_stack_n);
    std::string frames;
    for (const NameId frame : events.frames(stack, count)) {
      const std::uint32_t number = own(events, frame);
      frames.append(reinterpret_cast<const char*>(&number), sizeof number);
    }
    known->second = groups_.number(frames);
    return known->second;
  }

  static constexpr std::uint32_t kUnset = std::numeric_limits<std::uint32_t>::max();

  const SummaryOptions& options_;
  RowGroups groups_;
  std::vector<Sums> sums_;                             // by row
  std::vector<std::uint32_t> names_;                   // of the current events, to groups_
  std::unordered_map<StackId, std::uint32_t> stacks_;  // likewise
};

}  // namespace

}  // namespace analyses

OperatorSummary operator_summary(const Trace& trace, const SummaryOptions& options) {
  const Trace* traces[] = {&trace};
  return operator_summary(traces, options);
}

OperatorSummary operator_summary(std::span<const Trace* const> traces,
                                 const SummaryOptions& options) {
  if (options.figures == Figures::exact) return analyses::exact_summary(traces, options);
  if (options.figures == Figures::plugin) return analyses::plugin_summary(traces, options);
  analyses::Averages averages(options);
  // torch puts the newest recording before the earlier ones.
  for (std::size_t trace = traces.size(); trace-- > 0;) {
    averages.add(analyses::TorchEvents(*traces[trace], {.shapes = options.group_by_input_shape,
                                                        .stacks = options.group_by_stack_n > 0}));
  }
  OperatorRows rows = analyses::table_facts(traces);
  rows.grouped_by_shape = options.group_by_input_shape;
  rows.rows = std::move(averages).finish();
  return OperatorSummary(std::move(rows), Figures::torch, analyses::source_report(traces));
}

}  // namespace tbtrace
