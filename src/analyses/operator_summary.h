// Averages over the events of one or several recordings, as prof.key_averages() makes them.
// Results own their texts. Pure functions.
// Source: torch/autograd/profiler_util.py (EventList.key_averages, FunctionEventAvg.add).
#pragma once

#include <span>
#include <vector>

#include <tbtrace/analyses.h>

#include "analyses/torch_events.h"

namespace tbtrace::analyses {

/// One row an event, without its memory and the fields that only an event list has.
OperatorRow event_row(const TorchEvents& events, std::size_t number);

void set_memory(OperatorRow& row, const TorchEvents::Memory& total,
                const TorchEvents::Memory& self);

/// What tables need to know of recordings besides their rows.
OperatorRows table_facts(std::span<const Trace* const> traces);

}  // namespace tbtrace::analyses
