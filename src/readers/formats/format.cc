#include "readers/formats/format.h"

#include <algorithm>
#include <array>
#include <string>

#include "readers/chrome/reader.h"
#include "readers/chrome/replay.h"
#include "readers/formats/other_files.h"
#include "wire/partial_frame.h"

namespace tbtrace::readers {
namespace {

/// The one top-level key of rocprofv3's own JSON.
Sniff sniff_rocprof(std::string_view start) {
  const auto take = [&](std::string_view expected) {
    start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
    if (!start.starts_with(expected)) return false;
    start.remove_prefix(expected.size());
    return true;
  };
  return take("{") && take("\"rocprofiler-sdk-tool\"") && take(":") ? Sniff::yes : Sniff::no;
}

Result<Reading> refuse_rocprof(io::ByteSource&, const ReadOptions&) {
  return Status(StatusCode::unreadable_input,
                "is rocprofv3's own JSON, not a Chrome trace; record with torch.profiler, or with "
                "rocprofv3 --output-format pftrace for Perfetto");
}

Sniff sniff_partial(std::string_view start) {
  return wire::begins_as_partial(start) ? Sniff::yes : Sniff::no;
}

Result<Reading> refuse_partial(io::ByteSource&, const ReadOptions&) {
  return Status(StatusCode::unreadable_input,
                "is a partial, the sums of traces, where the events of a trace are needed; use the "
                "trace that it was made from");
}

Status refuse_replay(io::ByteSource&, const BlockDirectory&, BlockSinks&, int) {
  return {StatusCode::unreadable_input, "is of a format whose rows are not read"};
}

constexpr std::array kFormats = std::to_array<Format>({
    {"partial", sniff_partial, refuse_partial, refuse_replay},
    {"rocprofv3", sniff_rocprof, refuse_rocprof, refuse_replay},
    {"chrome_json", sniff_chrome, read_chrome, replay_chrome},
});

}  // namespace

Result<const Format*> find_format(std::string_view start) {
  if (const std::string_view other = other_file(start); !other.empty())
    return Status(StatusCode::unreadable_input, std::string(other));
  for (const Format& format : kFormats) {
    if (format.sniff(start) == Sniff::yes) return &format;
  }
  const bool blank = start.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (blank)
    return Status(StatusCode::unreadable_input, "is empty; the recording may have been stopped");
  return Status(StatusCode::unreadable_input,
                "is not a trace, since it does not start like JSON; expected a Chrome trace as "
                "prof.export_chrome_trace() writes it, plain or compressed");
}

}  // namespace tbtrace::readers
