#include "operators.h"

#include "failures.h"

namespace tbtrace::python {

SummaryOptions summary_options(const std::optional<Names>& group_by, int group_by_stack_n,
                               const std::string& stack_source) {
  constexpr StackSource kSources[] = {StackSource::either, StackSource::call_stack,
                                      StackSource::frames};
  SummaryOptions options;
  options.stack_source =
      kSources[choice("stack_source", stack_source, {"auto", "call_stack", "frames"})];
  if (group_by_stack_n < 0) wrong_argument("group_by_stack_n takes a number from 0");
  bool by_stack = false;
  for (const std::string& name : group_by ? listed(*group_by) : std::vector<std::string>()) {
    switch (choice("group_by", name, {"shape", "stack", "overload_name"})) {
      case 0:
        options.group_by_input_shape = true;
        break;
      case 1:
        by_stack = true;
        break;
      default:
        options.group_by_overload_name = true;
    }
  }
  if (by_stack) options.group_by_stack_n = group_by_stack_n;
  return options;
}

PartialOptions partial_options(int group_by_stack_n, const std::string& stack_source) {
  const SummaryOptions summary = summary_options(Names("stack"), group_by_stack_n, stack_source);
  PartialOptions options;
  options.group_by_stack_n = summary.group_by_stack_n;
  options.stack_source = summary.stack_source;
  return options;
}

}  // namespace tbtrace::python
