#include "made_trace.h"

#include <algorithm>
#include <array>
#include <string>

#include "trace_model.h"
#include "trace_text.h"

namespace tbtrace::benchmarks {
namespace {

constexpr int kBlocks = 50;
constexpr std::size_t kPiece = 1 << 20;

/// Blocks of a step, and steps, that make up about the size.
struct Extent {
  int blocks = kBlocks;
  int steps = 1;
};

Extent measure(const MadeTrace& settings) {
  std::string text;
  TraceText writer(text, settings.shapes);
  TrainingRun run(settings.seed, kBlocks);
  StepRows rows;
  run.step(rows);
  writer.operators(rows);
  writer.memory(rows);
  writer.launches(rows);
  const auto step_size = static_cast<std::int64_t>(text.size());
  if (settings.size >= step_size) {
    return {kBlocks, static_cast<int>(settings.size / step_size + 1)};
  }
  return {std::max(1, static_cast<int>(settings.size * kBlocks / step_size / 2)), 2};
}

}  // namespace

/// Kineto writes first all operators, then memory, then what devices did: the run is simulated
/// once for each, so that no more than a step is ever in memory.
bool write_made_trace(const MadeTrace& settings,
                      const std::function<bool(std::string_view)>& write) {
  const Extent extent = measure(settings);
  std::string text;
  TraceText writer(text, settings.shapes);
  const auto flush = [&](std::size_t limit) {
    if (text.size() <= limit) return true;
    const bool written = write(text);
    text.clear();
    return written;
  };
  constexpr std::array kParts = {&TraceText::operators, &TraceText::memory, &TraceText::launches};
  std::int64_t end_ns = 0;
  writer.begin();
  for (const auto part : kParts) {
    TrainingRun run(settings.seed, extent.blocks);
    StepRows rows;
    for (int step = 0; step < extent.steps; ++step) {
      run.step(rows);
      (writer.*part)(rows);
      if (!flush(kPiece)) return false;
    }
    end_ns = run.now_ns();
  }
  writer.end(end_ns);
  return flush(0);
}

}  // namespace tbtrace::benchmarks
