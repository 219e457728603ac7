// Classifies events and gives their times for the step breakdown, in both definitions.
// Made from a Trace, which must outlive it. Immutable.
// An event that matches no rule has no role.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <tbtrace/step_breakdown.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

class StepRules {
 public:
  /// `other_steps`: the steps to use if the trace has none of its own.
  StepRules(const Trace& trace, StepFigures figures, std::vector<Step> other_steps = {});

  StepFigures figures() const { return plugin_ ? StepFigures::plugin : StepFigures::exact; }

  /// The role that an event's time counts as.
  std::optional<StepRole> role(EventId event) const;

  bool is_work(EventId event) const;    ///< a kernel, memcpy or memset
  bool is_kernel(EventId event) const;  ///< including communication
  bool is_launch(EventId event) const;  ///< a runtime call that may have launched work
  /// A range that counts for the start and end of the only step of a trace without steps.
  bool is_cpu_row(EventId event) const;

  /// By start; with equal starts, in file order.
  std::vector<Step> steps() const;

  /// For the plugin, the nanosecond nearest to its double.
  std::int64_t start_ns(EventId event) const;
  std::int64_t end_ns(EventId event) const;

 private:
  enum class Name : std::uint8_t {
    plain,
    step,  ///< begins like a step's name, whatever follows
    data_loading,
    collective,
    collective_operator,  ///< the operator in which current torch launches collectives
    collective_kernel,    ///< named like NCCL's or RCCL's
    lightning,            ///< a PyTorch Lightning marker, not an operator
  };

  Name classified(std::string_view name) const;
  Name name(EventId event) const { return names_[index(trace_.events().name(event))]; }
  bool is_python_node(EventId event) const;
  StepRole range_role(EventId event) const;
  bool may_be_step(EventId event) const;
  void find_communication_exactly();
  void find_communication_as_the_plugin();

  const Trace& trace_;
  bool plugin_ = false;
  bool lightning_ = false;
  std::vector<Step> other_steps_;
  std::vector<Name> names_;             // by StringId
  std::vector<bool> is_communication_;  // kernels, by EventId
};

}  // namespace tbtrace::analyses
