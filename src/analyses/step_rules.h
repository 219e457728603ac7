// What the step breakdown takes events for, and their times, in either set of figures.
// Made from a Trace, which must outlive it. Immutable.
// An event that no rule knows has no role.
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
  /// `other_steps` are the steps of a trace that has none of its own.
  StepRules(const Trace& trace, StepFigures figures, std::vector<Step> other_steps = {});

  StepFigures figures() const { return plugin_ ? StepFigures::plugin : StepFigures::exact; }

  /// What the time of an event counts as.
  std::optional<StepRole> role(EventId event) const;

  bool is_work(EventId event) const;    ///< a kernel, copy or fill
  bool is_kernel(EventId event) const;  ///< communication too
  bool is_launch(EventId event) const;  ///< a call of the runtime that may have launched work
  /// A range whose start and end bound the only step of a trace without steps.
  bool is_cpu_row(EventId event) const;

  /// By start, at equal starts in the order of the file.
  std::vector<Step> steps() const;

  /// The plugin's times are the nanosecond nearest to its doubles.
  std::int64_t start_ns(EventId event) const;
  std::int64_t end_ns(EventId event) const;

 private:
  enum class Name : std::uint8_t {
    plain,
    step,  ///< begins like one, whatever follows
    data_loading,
    collective,
    collective_operator,  ///< the operator in which today's torch launches collectives
    collective_kernel,    ///< as NCCL and RCCL name theirs
    lightning,            ///< a marker of PyTorch Lightning's, no operator
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
