// Steps of several ranks beside each other on one clock, as JSON.
// Made from a JobAnalysis, which must outlive it. Immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tbtrace/ranks_view.h>

#include "pages/ranks/job_steps.h"
#include "wire/json_emitter.h"

namespace tbtrace::pages {

class StepTimelines {
 public:
  /// `costliest`: numbers of collectives, whose steps are shown as well.
  StepTimelines(const JobAnalysis& job, const JobSteps& steps,
                const std::vector<std::size_t>& costliest);

  void emit(wire::JsonEmitter& json, const RanksLimits& limits, std::size_t& cuts) const;

 private:
  struct Chosen {
    std::size_t step = 0;  ///< its place in JobSteps
    std::string_view why;  ///< `latest`, `usual`, `costliest_collective`
  };
  void choose(std::size_t step, std::string_view why);
  void emit_step(wire::JsonEmitter& json, const Chosen& chosen, const RanksLimits& limits,
                 std::size_t& cuts) const;

  const JobAnalysis& job_;
  const JobSteps& steps_;
  std::vector<Chosen> chosen_;
  /// By rank, by its collectives: the matched collective that it is a part of, or none.
  std::vector<std::vector<std::uint32_t>> matched_;
};

}  // namespace tbtrace::pages
