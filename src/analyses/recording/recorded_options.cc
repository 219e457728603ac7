#include <algorithm>

#include <tbtrace/analysis_context.h>

#include "analyses/recording/sliced.h"
#include "trace/call_tree.h"

namespace tbtrace {
namespace {

constexpr std::string_view kShapeUses[] = {
    "flops", "ops by input shape", "multiply-adds in modules and lines", "parameters in modules"};
constexpr std::string_view kMemoryUses[] = {"memory", "flame graphs of memory",
                                            "memory in ops, modules and lines"};
constexpr std::string_view kStackUses[] = {"lines", "modules", "functions in flame graphs",
                                           "ops by stack"};
constexpr std::string_view kModuleUses[] = {"modules"};

/// What is known about an option whatever the trace.
constexpr std::array<RecordedOptionState, kRecordedOptions> kOptions = {{
    {.option = RecordedOption::record_shapes,
     .name = "record_shapes",
     .was_on = {},
     .data = "input shapes",
     .causes = "a tool that shortened the trace left the arguments of events out",
     .remedy = "use the file that the profiler wrote",
     .how_to_record = "record with record_shapes=True",
     .unlocks = kShapeUses},
    {.option = RecordedOption::profile_memory,
     .name = "profile_memory",
     .was_on = {},
     .data = "allocations",
     .causes =
         "torch records no allocations with profile_all_threads=True, and wrote none before 1.9; "
         "a tool that rewrote the trace left the [memory] rows out",
     .remedy = "record without profile_all_threads, with a newer torch, and use the file that the "
               "profiler wrote",
     .how_to_record = "record with profile_memory=True",
     .unlocks = kMemoryUses},
    {.option = RecordedOption::with_stack,
     .name = "with_stack",
     .was_on = {},
     .data = "Python frames",
     .causes =
         "Python 3.12.0 to 3.12.4, and a failure of torch 2.0 to 2.8 that logs \"Python replay "
         "stack is empty\"",
     .remedy = "record with Python 3.12.5 or newer and a newer torch, and start and stop the "
               "profiler in the same function",
     .how_to_record = "record with with_stack=True",
     .unlocks = kStackUses},
    {.option = RecordedOption::with_modules,
     .name = "with_modules",
     .was_on = {},
     .data = "modules",
     .causes = "torch's with_modules is for TorchScript models only",
     .remedy = "record with with_stack=True, which has the modules of all models",
     .how_to_record = "record with with_stack=True, or in C++ with attach()",
     .unlocks = kModuleUses},
}};

/// What the ranges of a trace have.
struct Contents {
  bool has_operator = false;
  bool has_allocating_operator = false;
  bool has_frame = false;
  bool has_module = false;
};

Contents contents_of(const Trace& trace) {
  Contents found;
  for (const EventId range : call_tree_of(trace).ranges()) {
    if (trace.events().is_module(range)) {
      found.has_module = true;
    } else if (trace.kind(range) == EventKind::python_function) {
      found.has_frame = true;
    } else if (trace.kind(range) == EventKind::cpu_op) {
      const std::string_view name = trace.name(range);
      found.has_operator = found.has_operator || name.starts_with("aten::");
      found.has_allocating_operator =
          found.has_allocating_operator || name.starts_with("aten::empty");
    }
  }
  return found;
}

/// The kind of rows that has the data of an option, as slices name it; arguments go with operators.
std::string_view kind_with(RecordedOption option) {
  return option == RecordedOption::record_shapes    ? "operators"
         : option == RecordedOption::profile_memory ? "memory"
                                                    : "frames";
}

bool was_left_out(const Trace& trace, const RecordedOptionState& state) {
  return !state.has_data && analyses::was_left_out(trace, kind_with(state.option));
}

bool has(const Trace& trace, Argument argument) { return !trace.argument(argument).empty(); }

void set_data(const Trace& trace, const Contents& contents, RecordedOptionState& state) {
  // Only the argument tells.
  const auto argument_of = [](RecordedOption option) {
    return option == RecordedOption::record_shapes  ? Argument::input_dims
           : option == RecordedOption::with_modules ? Argument::module_hierarchy
                                                    : Argument::call_stack;
  };
  state.could_have_data =
      contents.has_operator &&
      (state.option == RecordedOption::profile_memory || trace.has_read(argument_of(state.option)));
  switch (state.option) {
    case RecordedOption::record_shapes:
      state.has_data = has(trace, Argument::input_dims);
      break;
    case RecordedOption::profile_memory:
      state.has_data = !trace.memory().empty();
      state.could_have_data = contents.has_allocating_operator;
      break;
    case RecordedOption::with_stack:
      state.has_data =
          contents.has_frame || contents.has_module || has(trace, Argument::call_stack);
      break;
    case RecordedOption::with_modules:
      state.has_data = contents.has_module || has(trace, Argument::module_hierarchy);
      break;
  }
  if (was_left_out(trace, state)) state.could_have_data = false;
}

std::string lost_text(const RecordedOptionState& state) {
  const bool is_recorder = state.option == RecordedOption::with_stack;
  return "the file says " + std::string(state.name) + "=1 and has no " + std::string(state.data) +
         (is_recorder ? ": the recorder lost them" : ": they are lost") +
         ". Known causes: " + std::string(state.causes) + "; " + std::string(state.remedy);
}

std::string joined(std::span<const std::string_view> texts) {
  std::string all;
  for (const std::string_view text : texts) {
    if (!all.empty()) all += ", ";
    all += text;
  }
  return all;
}

}  // namespace

std::array<RecordedOptionState, kRecordedOptions> recorded_options(const Trace& trace) {
  const Contents contents = contents_of(trace);
  std::array<RecordedOptionState, kRecordedOptions> states = kOptions;
  for (RecordedOptionState& state : states) {
    if (trace.metadata().contains(state.name)) state.was_on = trace.is_set(state.name);
    set_data(trace, contents, state);
  }
  return states;
}

RecordedOptionState recorded_option(const Trace& trace, RecordedOption option) {
  return recorded_options(trace)[static_cast<std::size_t>(option)];
}

std::vector<std::string> recorded_lines(std::span<const RecordedOptionState> states) {
  std::vector<std::string_view> came;
  std::vector<std::string> lines;
  for (const RecordedOptionState& state : states) {
    if (state.has_data) came.push_back(state.data);
    if (!state.is_missing()) continue;
    lines.push_back("not recorded: " + std::string(state.data) + "; " +
                    std::string(state.how_to_record) + " for " + joined(state.unlocks));
  }
  if (!came.empty()) lines.insert(lines.begin(), "recorded: " + joined(came));
  return lines;
}

std::string missing_data_text(const Trace& trace, RecordedOption option) {
  const RecordedOptionState state = recorded_option(trace, option);
  if (was_left_out(trace, state)) return analyses::left_out_text(trace, kind_with(option));
  if (state.is_lost()) return lost_text(state);
  return std::string(state.how_to_record);
}

std::string missing_modules_text(const Trace& trace) {
  const auto states = recorded_options(trace);
  const RecordedOptionState& stacks = states[static_cast<std::size_t>(RecordedOption::with_stack)];
  const RecordedOptionState& modules =
      states[static_cast<std::size_t>(RecordedOption::with_modules)];
  if (was_left_out(trace, modules)) return analyses::left_out_text(trace, "frames");
  if (stacks.is_lost()) return lost_text(stacks);
  if (has(trace, Argument::call_stack) && !contents_of(trace).has_frame) {
    return "its call stacks are of a torch that did not record modules (before 1.12); record with "
           "a newer torch and with_stack=True. `tbtrace lines` shows what each line cost";
  }
  if (stacks.has_data) {
    return "it has Python frames, and no nn.Module was called while it was recorded";
  }
  if (modules.is_lost()) return lost_text(modules);
  return std::string(modules.how_to_record);
}

}  // namespace tbtrace
