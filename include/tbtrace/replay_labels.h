// Which module the kernels of replayed CUDA graphs belong to, from a trace of the same model in
// which they were launched one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <tbtrace/arguments.h>
#include <tbtrace/export.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// What both traces have to be read with.
ArgumentSet replay_label_arguments();

struct LabelledReplays {
  Trace trace;
  std::uint64_t labelled = 0;    ///< kernels, memcpys and memsets of replays that got a label
  std::uint64_t unlabelled = 0;  ///< those that did not
  std::size_t replays = 0;       ///< steps with replays; without steps, launches of graphs
  std::size_t refused = 0;       ///< those of them whose names do not agree with any of the source
  double best_refused = 0;       ///< the share of the names that agree in the best of the refused
};

/// The trace with labels, which kernels_table(), module_tree() and flame graphs show like those
/// that a program gave: the module of the kernel at the same place in `source`, else its operator.
/// All work of a step is compared with that of each step of the source, in the order of starts; if
/// fewer than 95 % of the names of a step's replayed work are there in the same order, or less than
/// 80 % of the step there is here, it gets no labels. Work that may be at several places has the
/// label that all of them have. Fails if one of the two was read without replay_label_arguments(),
/// if the trace has labels of its own or no replays that can be told, or if nothing in the source
/// was launched by operators.
Result<LabelledReplays> label_replays(Trace trace, const Trace& source);

/// What was labelled, a sentence for people. `source`: the name of the trace that labels are from.
std::string text_of(const LabelledReplays& replays, const std::string& source);

}  // namespace tbtrace
