#include "readers/format.h"

#include <array>
#include <string>

#include "readers/chrome_reader.h"
#include "readers/replay.h"

namespace tbtrace::readers {
namespace {

Sniff sniff_rocprof(std::string_view start) {
  const bool found = start.find("\"rocprofiler-sdk-tool\"") != std::string_view::npos;
  return found ? Sniff::yes : Sniff::no;
}

Result<Trace> refuse_rocprof(io::ByteSource&, const ReadOptions&) {
  return Status(StatusCode::unreadable_input,
                "is rocprofv3's own JSON, not a Chrome trace; record with torch.profiler, or with "
                "rocprofv3 --output-format pftrace for Perfetto");
}

constexpr std::array kFormats = std::to_array<Format>({
    {"rocprofv3", sniff_rocprof, refuse_rocprof, nullptr},
    {"chrome_json", sniff_chrome, read_chrome, replay_chrome},
});

}  // namespace

Result<const Format*> find_format(std::string_view start) {
  for (const Format& format : kFormats) {
    if (format.sniff(start) == Sniff::yes) return &format;
  }
  const bool blank = start.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (blank) return Status(StatusCode::unreadable_input, "is empty; was the recording stopped?");
  return Status(StatusCode::unreadable_input,
                "is no trace: it does not start like JSON; expected a Chrome trace as "
                "prof.export_chrome_trace() writes it, plain or gzip");
}

}  // namespace tbtrace::readers
