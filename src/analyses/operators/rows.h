// Rows of operator summaries and event lists, from torch's events. Rows own their texts.
// Source: torch/autograd/profiler_util.py (EventList.key_averages, FunctionEventAvg.add).
#pragma once

#include <span>
#include <vector>

#include <tbtrace/operators.h>

#include "analyses/torch/events.h"

namespace tbtrace::analyses {

/// Sets the numbers in an event's row, without its memory.
void set_numbers(const TorchEvents& events, std::size_t number, OperatorRow& row);

/// Sets the texts: name, overload, shapes and stack.
void set_texts(const TorchEvents& events, std::size_t number, OperatorRow& row);

void set_memory(OperatorRow& row, const TorchEvents::Memory& total,
                const TorchEvents::Memory& self);

/// What tables need to know about recordings besides their rows.
OperatorRows table_facts(std::span<const Trace* const> traces);

}  // namespace tbtrace::analyses
