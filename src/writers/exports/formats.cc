#include "writers/exports/formats.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tbtrace {
namespace {

struct Format {
  ExportFormatRow row;
  std::unique_ptr<writers::Exporter> (*make)();
  bool is_compressed = false;  // whatever the file is called
};

constexpr std::array kFormats = {
    Format{{.format = ExportFormat::perfetto,
            .name = "perfetto",
            .suffix = ".pftrace",
            .summary = "for ui.perfetto.dev and trace_processor, without the limits of its JSON"},
           writers::perfetto_exporter},
    Format{{.format = ExportFormat::speedscope,
            .name = "speedscope",
            .suffix = ".speedscope.json",
            .summary = "for speedscope.app: flame graphs of each thread and stream"},
           writers::speedscope_exporter},
    Format{{.format = ExportFormat::pprof,
            .name = "pprof",
            .suffix = ".pb.gz",
            .summary = "for pprof and Pyroscope: stacks with times and labels, to compare"},
           writers::pprof_exporter,
           true},
    Format{{.format = ExportFormat::firefox,
            .name = "firefox",
            .suffix = ".gecko.json",
            .summary = "for profiler.firefox.com: a marker table with search, and a call tree"},
           writers::firefox_exporter},
    Format{{.format = ExportFormat::folded,
            .name = "folded",
            .suffix = ".folded",
            .summary = "for flamegraph.pl, inferno and others: a line for each stack of the host"},
           writers::folded_exporter},
};

constexpr auto kRows = [] {
  std::array<ExportFormatRow, kFormats.size()> rows;
  for (std::size_t at = 0; at < rows.size(); ++at) rows[at] = kFormats[at].row;
  return rows;
}();

}  // namespace

std::span<const ExportFormatRow> export_formats() { return kRows; }

namespace writers {

namespace {

const Format& row_of(ExportFormat format) {
  return *std::ranges::find(kFormats, format, [](const Format& each) { return each.row.format; });
}

}  // namespace

std::unique_ptr<Exporter> make_exporter(ExportFormat format) { return row_of(format).make(); }

bool is_always_compressed(ExportFormat format) { return row_of(format).is_compressed; }

}  // namespace writers
}  // namespace tbtrace
