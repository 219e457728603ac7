// The lines of prof.export_stacks().
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include <tbtrace/operators.h>

#include "analyses/torch/events.h"
#include "base/nearest_integer.h"
#include "io/text_sink.h"
#include "writers/tables/write_file.h"

namespace tbtrace {
namespace {

using analyses::NameId;
using analyses::TorchEvents;

constexpr std::array<std::string_view, 5> kMetrics = {
    "self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total",
    "self_privateuse1_time_total", "self_device_time_total"};

void write_lines(const TorchEvents& events, bool device, io::TextSink& out) {
  std::string& lines = out.text();
  for (std::size_t row = 0; row < events.size(); ++row) {
    if (events.stack(row) == 0) continue;
    const double us = device ? events.self_device_time_us(row) : events.self_cpu_time_us(row);
    const auto whole = truncated_integer(us);
    if (whole <= 0) continue;
    const std::vector<NameId> frames = events.frames(events.stack(row), SIZE_MAX);
    for (std::size_t frame = frames.size(); frame-- > 0;) {
      for (const char c : events.text(frames[frame])) {
        lines += c == ' ' || c == ';' || c == '\t' || c == '\n' ? '_' : c;
      }
      if (frame > 0) lines += ';';
    }
    lines += ' ';
    lines += std::to_string(whole);
    lines += '\n';
    if (!out.flow()) return;
  }
}

/// Newest recording first.
void write_lines(std::span<const Trace* const> traces, std::string_view metric, io::TextSink& out) {
  for (std::size_t trace = traces.size(); trace-- > 0;) {
    write_lines(TorchEvents(*traces[trace], {.stacks = true}), metric != kMetrics[0], out);
    if (!out.flow()) return;
  }
}

Status write(std::span<const Trace* const> traces, std::string_view metric, io::ByteSink& sink) {
  io::TextSink out(sink);
  write_lines(traces, metric, out);
  return out.finish();
}

}  // namespace

Status check_stack_metric(std::string_view metric) {
  if (std::find(kMetrics.begin(), kMetrics.end(), metric) != kMetrics.end()) return {};
  return {StatusCode::invalid_argument,
          "unknown stack metric '" + std::string(metric) +
              "'; use self_cpu_time_total, self_cuda_time_total, self_xpu_time_total or "
              "self_privateuse1_time_total"};
}

Result<std::string> exported_stacks(std::span<const Trace* const> traces, std::string_view metric) {
  if (Status known = check_stack_metric(metric); !known.ok()) return known;
  if (Status same = check_same_process(traces); !same.ok()) return same;
  return io::text_of([&](io::TextSink& out) { write_lines(traces, metric, out); });
}

Status write_exported_stacks(std::span<const Trace* const> traces, const std::string& path,
                             std::string_view metric, bool overwrite, SameProcess same_process) {
  if (Status known = check_stack_metric(metric); !known.ok()) return known;
  if (same_process == SameProcess::checked) {
    if (Status same = check_same_process(traces); !same.ok()) return same;
  }
  return writers::write_file(path, overwrite,
                             [&](io::ByteSink& sink) { return write(traces, metric, sink); });
}

Status write_exported_stacks(std::span<const Trace* const> traces, std::ostream& stream,
                             std::string_view metric) {
  if (Status known = check_stack_metric(metric); !known.ok()) return known;
  if (Status same = check_same_process(traces); !same.ok()) return same;
  return write(traces, metric, *io::stream_sink(stream));
}

}  // namespace tbtrace
