// What kind of row an event is in a summary or a list, and which ranges wait for a data loader.
#pragma once

#include <string_view>

#include <tbtrace/report.h>
#include <tbtrace/trace.h>

#include "trace/step_names.h"

namespace tbtrace::analyses {

/// `enumerate(DataLoader)#... .__next__`, `enumerate(DataPipe)#...`.
constexpr bool is_data_loading(std::string_view name) {
  return (name.starts_with("enumerate(DataLoader)#") && name.ends_with(".__next__")) ||
         name.starts_with("enumerate(DataPipe)#");
}

/// EventId::none is a memory record.
inline OperatorKind operator_kind(const Trace& trace, EventId event) {
  if (event == EventId::none) return OperatorKind::other;
  const Category& category = trace.category(event);
  switch (category.kind) {
    case EventKind::user_annotation:
    case EventKind::gpu_user_annotation:
      return OperatorKind::annotation;
    case EventKind::python_function:
      return OperatorKind::frame;
    default:
      break;
  }
  if (category.device != DeviceType::cpu) return OperatorKind::kernel;
  if (category.kind != EventKind::cpu_op) return OperatorKind::other;
  // Files of 2021 call steps operators.
  return is_step_name(trace.name(event)) ? OperatorKind::annotation : OperatorKind::op;
}

}  // namespace tbtrace::analyses
