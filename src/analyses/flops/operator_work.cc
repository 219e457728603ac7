#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <tbtrace/analysis_context.h>
#include <tbtrace/flops.h>

#include "analyses/attribution/communication.h"
#include "analyses/attribution/owners.h"
#include "analyses/flops/cast_operators.h"
#include "analyses/flops/counted_operators.h"
#include "analyses/flops/device_peaks.h"
#include "analyses/flops/known_operations.h"
#include "analyses/flops/operator_inputs.h"
#include "analyses/flops/work_owners.h"
#include "analyses/kernels/families.h"
#include "analyses/steps/selection.h"
#include "analyses/torch/event_flops.h"
#include "base/bounded_sum.h"
#include "trace/call_tree.h"
#include "trace/input_lists.h"
#include "trace/links.h"

namespace tbtrace {
namespace {

using analyses::WorkOwner;
using analyses::WorkOwners;
using analyses::WorkPhase;

/// The device whose peaks count, if all that worked are of one kind.
struct Devices {
  std::set<std::int64_t> numbers;
  std::string name;  ///< empty: unknown, or several
};

Devices devices_of(const Trace& trace) {
  Devices devices;
  for (const DeviceLink& link : links_of(trace).device_work()) {
    const TrackId track = trace.events().track(link.activity);
    devices.numbers.insert(device_number(trace.track(track)));
  }
  std::set<std::string> names;
  for (const DeviceProperties& device : trace.device_properties()) {
    if (devices.numbers.contains(device.id)) names.insert(device.name);
  }
  if (names.size() == 1) devices.name = *names.begin();
  return devices;
}

/// What is known about one operator besides its count.
struct WorkSums {
  std::int64_t device_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t cpu_ns = 0;
  std::uint64_t torch_flops = 0;
  bool has_device_work = false;
  bool uses_tensor_cores = false;
  bool is_chosen = false;  ///< it started in the chosen steps
};

/// A row and what its totals need.
struct Group {
  OperatorWork row;
  std::uint64_t model_macs = 0;
  std::uint64_t recomputed_macs = 0;
  bool has_all_bytes = true;
};

class Rows {
 public:
  Rows(const Trace& trace, const FlopsOptions& options)
      : trace_(trace),
        options_(options),
        context_(trace),
        owners_(trace),
        cast_(trace),
        devices_(devices_of(trace)),
        peaks_(analyses::device_peaks(devices_.name)),
        sums_(owners_.owners().size()) {}

  OperatorWorkSummary run(std::int64_t window_ns) {
    add_host_time();
    add_device_time();
    add_operators();
    describe(window_ns);
    finish();
    return std::move(summary_);
  }

 private:
  struct Key {
    StringId name;
    std::uint32_t shapes;
    WorkState state;
    bool on_device;
    Precision precision;

    bool operator<(const Key& other) const {
      return std::tie(name, shapes, state, on_device, precision) <
             std::tie(other.name, other.shapes, other.state, other.on_device, other.precision);
    }
  };

  bool is_chosen(EventId event) const {
    if (!options_.steps) return true;
    const Step* step = context_.step_of(event);
    return step != nullptr && options_.steps->contains(step->number);
  }

  void add_host_time() {
    analyses::TorchFlops torch_flops(trace_);
    for (const EventId event : context_.host_ranges()) {
      const std::uint32_t owner = owners_.of(event);
      if (owner == WorkOwners::kNone || !is_chosen(event)) continue;
      WorkSums& sums = sums_[owner];
      add_bounded(sums.cpu_ns, context_.self_time_ns(event));
      sums.torch_flops += torch_flops.of(event);
      if (owners_.owners()[owner].op == event) sums.is_chosen = true;
    }
  }

  void add_device_time() {
    const CallTree& tree = call_tree_of(trace_);
    std::unordered_map<StringId, bool> uses_tensor_cores;
    const std::vector<bool> communication = analyses::communication_work(trace_);
    for (const DeviceLink& link : context_.device_links()) {
      if (!is_chosen(link.activity)) continue;
      const std::int64_t duration = trace_.events().duration_ns(link.activity);
      const std::int64_t in_collective = communication[index(link.activity)] ? duration : 0;
      const std::uint32_t owner = owners_.of(analyses::owner_of_work(tree, link));
      if (owner == WorkOwners::kNone) {
        ++unattributed_.count;
        add_bounded(unattributed_.device_time_ns, duration);
        add_bounded(unattributed_.communication_time_ns, in_collective);
        continue;
      }
      add_bounded(sums_[owner].device_ns, duration);
      add_bounded(sums_[owner].communication_ns, in_collective);
      sums_[owner].has_device_work = true;
      const StringId name = trace_.events().name(link.activity);
      const auto [found, is_new] = uses_tensor_cores.try_emplace(name);
      if (is_new) {
        found->second = analyses::uses_tensor_cores(trace_.string(name)).value_or(false);
      }
      sums_[owner].uses_tensor_cores = sums_[owner].uses_tensor_cores || found->second;
    }
  }

  Precision precision_of(const WorkOwner& owner, const WorkSums& sums) {
    if (owner.state != WorkState::counted || owner.work.flops == 0) return Precision::unknown;
    const StringId types = cast_.inputs_of(owner.op).types;
    const std::uint64_t key = static_cast<std::uint64_t>(types) * 2 + sums.uses_tensor_cores;
    const auto [found, is_new] = precisions_.try_emplace(key, Precision::unknown);
    if (!is_new) return found->second;
    for (const std::string& type : parse_texts(trace_.string(types))) {
      found->second = analyses::precision_of(type, sums.uses_tensor_cores, peaks_);
      if (found->second != Precision::unknown) break;
    }
    return found->second;
  }

  /// A number for the shapes; 0 without any.
  std::uint32_t shapes_of_operator(EventId op) {
    if (!options_.by_input_shape) return 0;
    const InputTexts inputs = inputs_of(trace_, op);
    if (!inputs.is_given()) return 0;
    const std::uint64_t key =
        static_cast<std::uint64_t>(inputs.dims) << 32 | static_cast<std::uint64_t>(inputs.types);
    const auto [found, is_new] = shapes_of_inputs_.try_emplace(key);
    if (is_new) {
      const std::string text = shapes_of(trace_, inputs);
      const auto number = static_cast<std::uint32_t>(shapes_.size());
      found->second = shapes_.try_emplace(text, number).first->second;
    }
    return found->second;
  }

  void add_operators() {
    for (std::size_t number = 0; number < sums_.size(); ++number) {
      const WorkOwner& owner = owners_.owners()[number];
      const WorkSums& sums = sums_[number];
      const bool has_time = sums.device_ns > 0 || sums.cpu_ns > 0;
      if (!sums.is_chosen && !has_time) continue;
      const Key key = {trace_.events().name(owner.op), shapes_of_operator(owner.op), owner.state,
                       sums.has_device_work, precision_of(owner, sums)};
      const auto [found, is_new] = numbers_.try_emplace(key, groups_.size());
      if (is_new) {
        OperatorWork& row = groups_.emplace_back().row;
        row.name = trace_.string(key.name);
        if (options_.by_input_shape) {
          row.input_shapes = shapes_of(trace_, inputs_of(trace_, owner.op));
        }
        row.state = key.state;
        row.on_device = key.on_device;
        row.precision = key.precision;
      }
      add(groups_[found->second], owner, sums);
    }
    if (unattributed_.count > 0) {
      unattributed_.name = OperatorWork::kUnattributed;
      unattributed_.on_device = true;
      groups_.push_back({.row = unattributed_});
    }
  }

  void add(Group& group, const WorkOwner& owner, const WorkSums& sums) {
    OperatorWork& row = group.row;
    add_bounded(row.device_time_ns, sums.device_ns);
    add_bounded(row.communication_time_ns, sums.communication_ns);
    add_bounded(row.cpu_time_ns, sums.cpu_ns);
    row.torch_flops += sums.torch_flops;
    if (!sums.is_chosen) return;  // started before the chosen steps; only its time counts
    ++row.count;
    if (owner.state != WorkState::counted) return;
    const analyses::CountedOperator& work = owner.work;
    row.macs = saturating_sum(row.macs.value_or(0), work.macs);
    row.flops = saturating_sum(row.flops.value_or(0), work.flops);
    row.traffic_bytes = saturating_sum(row.traffic_bytes.value_or(0), work.bytes);
    if (work.bytes == 0) group.has_all_bytes = false;
    std::uint64_t& part = owner.phase == WorkPhase::forward    ? summary_.forward_macs
                          : owner.phase == WorkPhase::backward ? summary_.backward_macs
                                                               : summary_.recomputed_macs;
    part = saturating_sum(part, work.macs);
    std::uint64_t& of_group =
        owner.phase == WorkPhase::recomputed ? group.recomputed_macs : group.model_macs;
    of_group = saturating_sum(of_group, work.macs);
    if (context_.step_of(owner.op) == nullptr) return;
    summary_.flops_in_steps = saturating_sum(summary_.flops_in_steps, work.flops);
    std::uint64_t& in_steps = owner.phase == WorkPhase::forward ? summary_.forward_macs_in_steps
                              : owner.phase == WorkPhase::backward
                                  ? summary_.backward_macs_in_steps
                                  : summary_.recomputed_macs_in_steps;
    in_steps = saturating_sum(in_steps, work.macs);
  }

  /// Of the device; a peak that was given is the CPU's if no device worked.
  std::optional<double> peak_of(const OperatorWork& row) const {
    if (row.on_device != summary_.has_device_work) return std::nullopt;
    if (options_.peak_flops_per_s) return options_.peak_flops_per_s;
    return peaks_ == nullptr ? std::nullopt : peaks_->flops_per_s(row.precision);
  }

  /// What the first layer of a step took.
  struct FirstLayer {
    StringId name = StringId::empty;
    StringId dims = StringId::empty;
    bool had_backward = false;         ///< after it
    std::uint64_t flattened_size = 0;  ///< its first dimension if that may be two; 0: it is one
  };

  /// Of each chosen step what its first layer took. Unknown if that runs again after a backward
  /// pass, as where gradients of several batches are accumulated, and if it took rows that may be
  /// those of several samples, such as the tokens of sentences.
  void count_samples() {
    std::map<const Step*, FirstLayer> first_layers;
    bool is_known = true;
    std::set<std::pair<std::uint64_t, StringId>> seen;  // sizes with shapes that do not factor them
    const auto has_factors_of = [&](const FirstLayer& layer, EventId op) {
      if (layer.flattened_size == 0 || trace_.kind(op) != EventKind::cpu_op) return false;
      const StringId dims = inputs_of(trace_, op).dims;
      return dims != StringId::empty && seen.emplace(layer.flattened_size, dims).second &&
             analyses::has_factors(trace_, op, layer.flattened_size);
    };
    for (const EventId op : trace_.by_start()) {
      const Step* const step = context_.step_of(op);
      if (step == nullptr || !is_chosen(op)) continue;
      const std::uint32_t owner = owners_.of(op);
      const bool is_forward =
          owner == WorkOwners::kNone || owners_.owners()[owner].phase == WorkPhase::forward;
      const auto first = first_layers.find(step);
      if (first != first_layers.end()) {
        first->second.had_backward = first->second.had_backward || !is_forward;
        const bool is_again = is_forward && first->second.had_backward &&
                              trace_.events().name(op) == first->second.name &&
                              inputs_of(trace_, op).dims == first->second.dims;
        if (is_again) summary_.has_several_batches = true;
        is_known = is_known && !has_factors_of(first->second, op);
        continue;
      }
      const std::optional<analyses::FirstDimension> samples = analyses::first_dimension(trace_, op);
      if (!samples) continue;
      const bool is_linear = trace_.name(op).starts_with("aten::linear");
      if (samples->may_be_flattened && !is_linear) is_known = false;
      first_layers.emplace(step, FirstLayer{trace_.events().name(op), inputs_of(trace_, op).dims,
                                            false, samples->may_be_flattened ? samples->size : 0});
      summary_.samples = saturating_sum(summary_.samples.value_or(0), samples->size);
    }
    if (summary_.has_several_batches || !is_known) summary_.samples.reset();
  }

  void describe(std::int64_t window_ns) {
    count_samples();
    for (const Step& step : trace_.steps()) {
      if (!options_.steps || options_.steps->contains(step.number)) ++summary_.steps;
    }
    const auto devices =
        static_cast<std::int64_t>(std::max<std::size_t>(1, devices_.numbers.size()));
    summary_.window_ns = bounded(WideInteger{window_ns} * devices);
    summary_.device = devices_.name;
    summary_.has_device_work = !devices_.numbers.empty();
    summary_.has_shapes = !trace_.argument(Argument::input_dims).empty();
    if (peaks_ != nullptr) summary_.peak_source = peaks_->source;
    if (options_.peak_bytes_per_s) {
      summary_.peak_bytes_per_s = options_.peak_bytes_per_s;
    } else if (peaks_ != nullptr) {
      summary_.peak_bytes_per_s = peaks_->gigabytes_per_s * 1e9;
    }
  }

  void set_rates(OperatorWork& row) const {
    const auto time = static_cast<double>(row.on_device ? row.device_time_ns : row.cpu_time_ns);
    const auto bytes = static_cast<double>(row.traffic_bytes.value_or(0));
    if (time > 0 && bytes > 0) row.bytes_per_s = bytes * 1e9 / time;
    if (!row.flops || *row.flops == 0) return;
    const auto flops = static_cast<double>(*row.flops);
    if (time > 0) row.flops_per_s = flops * 1e9 / time;
    row.peak_flops_per_s = peak_of(row);
    if (!row.traffic_bytes) return;
    row.flops_per_byte = flops / bytes;
    if (!row.peak_flops_per_s || !summary_.peak_bytes_per_s) return;
    const double by_memory = *row.flops_per_byte * *summary_.peak_bytes_per_s;
    row.is_memory_bound = by_memory < *row.peak_flops_per_s;
    row.roof_flops_per_s = std::min(by_memory, *row.peak_flops_per_s);
  }

  void finish() {
    double model_ns = 0;
    double recomputed_ns = 0;
    bool has_all_peaks = true;
    OperatorWork& all = summary_.all;
    for (Group& group : groups_) {
      OperatorWork& row = group.row;
      if (!group.has_all_bytes) row.traffic_bytes.reset();
      set_rates(row);
      all.count += row.count;
      all.macs = saturating_sum(all.macs.value_or(0), row.macs.value_or(0));
      all.flops = saturating_sum(all.flops.value_or(0), row.flops.value_or(0));
      all.torch_flops += row.torch_flops;
      add_bounded(all.device_time_ns, row.device_time_ns);
      add_bounded(all.communication_time_ns, row.communication_time_ns);
      add_bounded(all.cpu_time_ns, row.cpu_time_ns);
      if (row.macs.value_or(0) > 0 && row.on_device == summary_.has_device_work) {
        has_all_peaks = has_all_peaks && row.peak_flops_per_s;
        const double ns_per_mac = 2e9 / row.peak_flops_per_s.value_or(1);
        model_ns += static_cast<double>(group.model_macs) * ns_per_mac;
        recomputed_ns += static_cast<double>(group.recomputed_macs) * ns_per_mac;
      }
      summary_.rows.push_back(std::move(row));
    }
    constexpr double kMost = 9e18;
    if (all.macs.value_or(0) > 0 && has_all_peaks) {
      summary_.model_peak_time_ns = std::llround(std::min(kMost, model_ns));
      summary_.recomputed_peak_time_ns = std::llround(std::min(kMost, recomputed_ns));
    }
    std::stable_sort(summary_.rows.begin(), summary_.rows.end(),
                     [](const OperatorWork& one, const OperatorWork& two) {
                       return std::tie(two.device_time_ns, two.cpu_time_ns, one.name,
                                       one.input_shapes, one.state, one.on_device, one.precision) <
                              std::tie(one.device_time_ns, one.cpu_time_ns, two.name,
                                       two.input_shapes, two.state, two.on_device, two.precision);
                     });
  }

  const Trace& trace_;
  const FlopsOptions& options_;
  const AnalysisContext context_;
  const WorkOwners owners_;
  const analyses::CastOperators cast_;
  const Devices devices_;
  const analyses::DevicePeaks* const peaks_;
  std::vector<WorkSums> sums_;  // by owner
  std::vector<Group> groups_;
  std::map<Key, std::size_t> numbers_;
  std::unordered_map<std::uint64_t, Precision> precisions_;
  std::unordered_map<std::uint64_t, std::uint32_t> shapes_of_inputs_;
  std::unordered_map<std::string, std::uint32_t> shapes_;
  OperatorWork unattributed_;
  OperatorWorkSummary summary_;
};

/// `counted`: of what there is a sum.
bool knows(const OperatorWorkSummary& summary, std::uint64_t counted) {
  std::uint64_t uncounted = 0;
  for (const OperatorWork& row : summary.rows) {
    if (analyses::is_uncounted(row.state)) uncounted += row.count;
  }
  return analyses::knows_operations({.counted = static_cast<double>(counted),
                                     .uncounted = static_cast<double>(uncounted),
                                     .device_ns = static_cast<double>(summary.all.device_time_ns),
                                     .cpu_ns = static_cast<double>(summary.all.cpu_time_ns),
                                     .window_ns = static_cast<double>(summary.window_ns)});
}

}  // namespace

bool OperatorWorkSummary::knows_operations() const { return knows(*this, all.flops.value_or(0)); }
bool OperatorWorkSummary::knows_macs() const { return knows(*this, all.macs.value_or(0)); }

std::string_view work_state_name(WorkState state) {
  constexpr std::array<std::string_view, 4> kNames = {"counted", "inside", "unknown_sizes",
                                                      "no_rule"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view precision_name(Precision precision) {
  constexpr std::array<std::string_view, 10> kNames = {
      "",     "float64", "float64_matrix", "float32", "float32_matrix",
      "tf32", "float16", "bfloat16",       "float8",  "int8"};
  return kNames[static_cast<std::size_t>(precision)];
}

Result<OperatorWorkSummary> operator_work(const Trace& trace, const FlopsOptions& options) {
  const Result<std::optional<TimeRange>> steps = analyses::window_of_steps(trace, options.steps);
  if (!steps.ok()) return steps.status();
  const std::int64_t start = *steps ? (*steps)->start : trace.window_start_ns();
  const std::int64_t end = *steps ? (*steps)->end : trace.window_end_ns();
  return Rows(trace, options).run(bounded(WideInteger{end} - start));
}

}  // namespace tbtrace
