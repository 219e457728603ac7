#include "operators.h"

#include <iterator>

#include "failures.h"

namespace tbtrace::python {

std::string operator_groupings_hint() {
  std::string names;
  for (const std::string_view name : kOperatorGroupings) {
    names += (names.empty() ? "" : ", ") + quoted(name);
  }
  const std::string one = "typing.Literal[" + names + "]";
  return one + " | collections.abc.Sequence[" + one + "] | None";
}

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
    if (choice("group_by", name, {std::begin(kOperatorGroupings), std::end(kOperatorGroupings)}) ==
        0)
      continue;  // rows always have a name
    const std::optional<GroupKey> key = group_key_named(name);
    if (!key) {
      options.group_by_overload_name = true;
    } else if (*key == GroupKey::shape) {
      options.group_by_input_shape = true;
    } else if (*key == GroupKey::stack) {
      by_stack = true;
    } else {
      options.by.add(*key);
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
