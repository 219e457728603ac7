#include "writers/exports/formats.h"

#include <array>
#include <cstddef>

namespace tbtrace {
namespace {

struct Format {
  ExportFormatRow row;
  std::unique_ptr<writers::Exporter> (*make)();
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
};

constexpr auto kRows = [] {
  std::array<ExportFormatRow, kFormats.size()> rows;
  for (std::size_t at = 0; at < rows.size(); ++at) rows[at] = kFormats[at].row;
  return rows;
}();

}  // namespace

std::span<const ExportFormatRow> export_formats() { return kRows; }

namespace writers {

std::unique_ptr<Exporter> make_exporter(ExportFormat format) {
  for (const Format& each : kFormats) {
    if (each.row.format == format) return each.make();
  }
  return nullptr;
}

}  // namespace writers
}  // namespace tbtrace
