#include "analyses/grouping/notes.h"

#include <variant>

#include <tbtrace/analysis_context.h>

#include "report/group_columns.h"

namespace tbtrace::analyses {
namespace {

std::string_view noun(GroupKey key) {
  if (key == GroupKey::shape) return "input shapes";
  if (key == GroupKey::thread) return "host thread";
  return group_key_name(key);
}

bool has_data(const Trace& trace, RecordedOption option) {
  return recorded_option(trace, option).has_data;
}

bool has_modules(const Trace& trace) {
  for (const EventId event : trace.by_start()) {
    if (trace.events().is_module(event)) return true;
  }
  return false;
}

}  // namespace

void MissingKeys::count(const GroupValues& values) {
  ++events_;
  for (const GroupKey key : report::kGroupColumns) {
    if (!keys_.has(key)) continue;
    const Cell cell = report::group_cell(values, key);
    if (std::holds_alternative<std::monostate>(cell)) ++without_[static_cast<std::size_t>(key)];
  }
}

std::string MissingKeys::reason(GroupKey key) const {
  switch (key) {
    case GroupKey::shape:
      return has_data(trace_, RecordedOption::record_shapes)
                 ? "only operators have some, and the operator is not known or has no inputs"
                 : missing_data_text(trace_, RecordedOption::record_shapes);
    case GroupKey::line:
      return has_data(trace_, RecordedOption::with_stack)
                 ? "no line of your own code was around them or around the operator whose gradient "
                   "they compute"
                 : missing_data_text(trace_, RecordedOption::with_stack);
    case GroupKey::stack:
      return has_data(trace_, RecordedOption::with_stack)
                 ? "no Python frame was around them, as in a backward pass on a thread of its own"
                 : missing_data_text(trace_, RecordedOption::with_stack);
    case GroupKey::module:
      return has_modules(trace_)
                 ? "no nn.Module was around them, as in a backward pass or an optimizer"
                 : missing_modules_text(trace_);
    case GroupKey::device:
    case GroupKey::stream:
      return "only kernels, memcpys and memsets run on one";
    case GroupKey::thread:
      return "their launch is not in the file";
    case GroupKey::rank:
      return "the file does not say which rank it is of (`distributedInfo`); it is not of a "
             "distributed job, or torch.distributed was not initialised before the recording";
    case GroupKey::step:
      break;
  }
  if (trace_.steps().empty()) return "the trace has no steps; call prof.step() after each one";
  return "no step was open when they started or were launched";
}

std::vector<std::string> MissingKeys::notes(std::string_view what) const {
  std::vector<std::string> notes;
  for (const GroupKey key : report::kGroupColumns) {
    const std::uint64_t without = without_[static_cast<std::size_t>(key)];
    if (without == 0) continue;
    const std::string how_many = without == events_
                                     ? "all " + std::to_string(events_)
                                     : std::to_string(without) + " of " + std::to_string(events_);
    notes.push_back(how_many + " " + std::string(what) + " have no " + std::string(noun(key)) +
                    ": " + reason(key));
  }
  return notes;
}

}  // namespace tbtrace::analyses
