// Folded stacks: a line for each stack with its own time on the host, as the flame graph has it.
#include <cstddef>
#include <memory>

#include <tbtrace/flame_graph.h>

#include "trace/call_tree.h"
#include "writers/exports/exporter.h"
#include "writers/flame/folded_lines.h"

namespace tbtrace::writers {
namespace {

class FoldedExporter final : public Exporter {
 public:
  Status add(const ExportedTrace& exported, io::TextSink& out, ExportReport& report) override {
    const Trace& trace = exported.trace;
    const Result<StackTree> stacks = flame_graph(trace);
    if (!stacks.ok()) return stacks.status();
    write_folded_lines(*stacks, exported.name, out);
    const std::size_t ranges = call_tree_of(trace).ranges().size();
    report.ranges += ranges;
    if (const std::size_t others = trace.events().size() - ranges; others > 0) {
      report.left_out["ranges that are not in stacks of the host, such as kernels"] += others;
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<Exporter> folded_exporter() { return std::make_unique<FoldedExporter>(); }

}  // namespace tbtrace::writers
