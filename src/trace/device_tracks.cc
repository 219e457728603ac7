#include "trace/device_tracks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <numeric>

#include "base/characters.h"

namespace tbtrace {
namespace {

/// How a writer's files are known: a track with these names, or a category. Patterns stand for the
/// whole text: `*` for any, `#` for digits, `@` for digits that are a device's number; upper and
/// lower case make no difference. An empty one fits everything.
struct WriterRow {
  Writer writer;
  std::string_view process_id;
  std::string_view process;
  std::string_view thread;
  std::string_view category = {};
};

// Sources: torch/autograd/profiler_util.py of torch 1.4 to 1.12 (legacy export); torch_npu's
// profiler/analysis (Ascend); tensorflow/python/client/timeline.py and core/platform/default/
// device_tracer.cc (TensorFlow 1); rocprofiler's tblextr.py and merge_traces.sh, rocmProfileData's
// rpd2tracing.py (ROCm); nsys2json.py, nvprof2json.py; onnxruntime/core/common/profiler_common.h;
// XLA's xla/tsl/profiler/convert/trace_events_to_json.cc and
// xla/tsl/profiler/utils/xplane_schema.cc (JAX, TensorFlow 2); tools/unitrace/src/chromelogger.h of
// PTI for GPU (unitrace).
constexpr std::array kWriterRows = std::to_array<WriterRow>({
    {Writer::ascend, "", "Ascend Hardware", ""},
    {Writer::autograd_profiler, "*CUDA functions*", "", ""},
    {Writer::autograd_profiler, "CPU functions", "", ""},
    {Writer::tensorflow_streams, "", "*/gpu:#/stream:#*", ""},
    {Writer::tensorflow_streams, "", "*/device:gpu:#/stream:#*", ""},
    {Writer::tensorflow, "", "*gpu:#?stream:all*", ""},
    {Writer::tensorflow, "", "*gpu:#/memcpy*", ""},
    {Writer::tensorflow, "", "/job:* Compute", ""},
    {Writer::rocm, "", "*CPU H?? API*", ""},
    {Writer::rocm, "", "*CPU KFD API*", ""},
    {Writer::rocm, "", "GPU#", ""},
    {Writer::rocm, "", "# GPU#", ""},
    {Writer::rocm, "", "GPU# r#", ""},
    {Writer::nsys2json, "Device #", "", "Stream #"},
    {Writer::nvprof2json, "[#:#] Overview", "", ""},
    {Writer::unitrace, "", "DEVICE<*>*", ""},
    {Writer::unitrace, "", "RANK # DEVICE<*>*", ""},
    {Writer::xla, "", "/host:*", ""},
    {Writer::xla, "", "*/device:*", ""},
    {Writer::onnx_runtime, "", "", "", "Node"},
});

constexpr Writer kAny = Writer::unknown;

/// A track matches the first row whose patterns all match.
struct TrackRow {
  Writer writer;
  std::string_view process_id;
  std::string_view process;
  std::string_view thread;
  TrackContent content;
};

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

constexpr std::array kTrackRows = std::to_array<TrackRow>({
    {kAny, "*CUDA functions*", "", "", TrackContent::nested_work},
    // The executor's rows are launches, on the host; the rest lists the work twice or once.
    {Writer::tensorflow_streams, "", "*gpu:@?stream:all*", "", TrackContent::derived},
    {Writer::tensorflow_streams, "", "*gpu:@/memcpy*", "", TrackContent::derived},
    {Writer::tensorflow_streams, "", "*gpu:@/stream:#*", "", TrackContent::work},
    {Writer::tensorflow, "", "*gpu:@?stream:all*", "", TrackContent::work},
    {Writer::tensorflow, "", "*gpu:@/memcpy*", "", TrackContent::work},
    {Writer::tensorflow_streams, "", "", "", TrackContent::host},
    {Writer::tensorflow, "", "", "", TrackContent::host},
    {Writer::rocm, "", "GPU@", "", TrackContent::work},
    {Writer::rocm, "", "# GPU@", "", TrackContent::work},
    {Writer::rocm, "", "GPU@ r#", "", TrackContent::work},
    {Writer::rocm, "", "# GPU@ r#", "", TrackContent::work},
    {Writer::rocm, "", "COPY", "", TrackContent::copies},
    {Writer::rocm, "", "# COPY", "", TrackContent::copies},
    {Writer::rocm, "", "COPY r#", "", TrackContent::copies},
    {Writer::rocm, "", "*Markers and Ranges*", "", TrackContent::annotations},
    {Writer::nsys2json, "Device @", "", "Stream #", TrackContent::work},
    {Writer::nsys2json, "Device @", "", "NVTX*", TrackContent::annotations},
    {Writer::nvprof2json, "[@:#] Overview", "", "", TrackContent::work},
    {Writer::nvprof2json, "[@:#] Compute", "", "", TrackContent::derived},
    // `DEVICE<node7>0:3a:0:0 #1`, `... #1.0` for a tile of it; without a number for OpenCL.
    {Writer::unitrace, "", "*DEVICE<*>* ?@", "", TrackContent::work},
    {Writer::unitrace, "", "*DEVICE<*>* ?@.#", "", TrackContent::work},
    {Writer::unitrace, "", "*DEVICE<*>*", "", TrackContent::work},
    {kAny, "", "*/device:GPU:*", "*Steps*", TrackContent::derived},
    {kAny, "", "*/device:GPU:*", "*XLA *", TrackContent::derived},
    {kAny, "", "*/device:GPU:*", "*Framework *", TrackContent::derived},
    {kAny, "", "*/device:GPU:*", "*TensorFlow *", TrackContent::derived},
    {kAny, "", "*/device:GPU:*", "*Launch Stats*", TrackContent::derived},
    {kAny, "", "*/device:GPU:*", "*Source *", TrackContent::derived},
    {kAny, "", "*/device:GPU:*", "", TrackContent::work},
    {kAny, "", "*/device:TPU:*", "*XLA Ops*", TrackContent::tpu_work},
    {kAny, "", "*/device:TPU:*", "", TrackContent::derived},
});

/// What msprof says of iterations beside the work of Ascend NPUs, in lower case; the names go on
/// with the iteration's number. Source: msprof's step trace.
constexpr std::array<std::string_view, 5> kAscendSpans = {
    "iteration ", "fp_bp time", "data_aug bound", "getnext time", "reduce_"};

/// Takes the digits at the start of a text. False if there are none, or too many for a number.
bool take_number(std::string_view& text, std::int64_t& number) {
  constexpr std::size_t kMostDigits = 9;
  std::size_t digits = 0;
  number = 0;
  for (; digits < text.size() && is_digit(text[digits]); ++digits) {
    if (digits == kMostDigits) return false;
    number = number * 10 + (text[digits] - '0');
  }
  text.remove_prefix(digits);
  return digits > 0;
}

/// Goes back to the last `*` where the text does not fit, so the time is bounded by the product of
/// the lengths.
bool fits(std::string_view pattern, std::string_view text, std::int64_t& device) {
  if (pattern.empty()) return true;
  std::string_view pattern_after_star;
  std::string_view text_after_star;
  bool any_star = false;
  for (;;) {
    if (pattern.empty() && text.empty()) return true;
    bool is_fit = false;
    if (!pattern.empty() && pattern.front() == '*') {
      pattern.remove_prefix(1);
      any_star = true;
      pattern_after_star = pattern;
      text_after_star = text;
      continue;
    }
    if (!pattern.empty() && !text.empty()) {
      const char wanted = pattern.front();
      if (wanted == '#' || wanted == '@') {
        std::int64_t number = 0;
        is_fit = take_number(text, number);
        if (is_fit && wanted == '@') device = number;
      } else if (wanted == '?' || lower_case(wanted) == lower_case(text.front())) {
        text.remove_prefix(1);
        is_fit = true;
      }
      if (is_fit) pattern.remove_prefix(1);
    }
    if (is_fit) continue;
    if (!any_star || text_after_star.empty()) return false;
    text_after_star.remove_prefix(1);
    pattern = pattern_after_star;
    text = text_after_star;
  }
}

bool fits(std::string_view pattern, std::string_view text) {
  std::int64_t device = -1;
  return fits(pattern, text, device);
}

bool is_of(const WriterRow& row, std::span<const TrackNames> tracks,
           std::span<const std::string_view> categories) {
  if (!row.category.empty()) {
    return std::find(categories.begin(), categories.end(), row.category) != categories.end();
  }
  return std::any_of(tracks.begin(), tracks.end(), [&](const TrackNames& track) {
    return fits(row.process_id, track.process_id) && fits(row.process, track.process) &&
           fits(row.thread, track.thread);
  });
}

}  // namespace

Writer writer_of(std::span<const TrackNames> tracks, std::span<const std::string_view> categories) {
  const auto* const row =
      std::find_if(kWriterRows.begin(), kWriterRows.end(),
                   [&](const WriterRow& each) { return is_of(each, tracks, categories); });
  return row == kWriterRows.end() ? Writer::unknown : row->writer;
}

TrackPlace place_of(const TrackNames& track, Writer writer) {
  if (writer == Writer::ascend) {
    if (track.process == "Ascend Hardware") return {TrackContent::ascend_work, -1};
    return {track.process == "Python" ? TrackContent::host : TrackContent::ascend_host, -1};
  }
  for (const TrackRow& row : kTrackRows) {
    std::int64_t device = -1;
    if ((row.writer == kAny || row.writer == writer) &&
        fits(row.process_id, track.process_id, device) &&
        fits(row.process, track.process, device) && fits(row.thread, track.thread, device)) {
      return {row.content, row.content == TrackContent::host ? -1 : device};
    }
  }
  return {};
}

std::string_view category_on(TrackContent content, std::string_view event_name) {
  const auto starts = [&](std::string_view lower) {  // case-insensitive
    return event_name.size() >= lower.size() &&
           std::equal(lower.begin(), lower.end(), event_name.begin(),
                      [](char a, char b) { return a == lower_case(b); });
  };
  switch (content) {
    case TrackContent::annotations:
      return "user_annotation";
    case TrackContent::work:
    case TrackContent::nested_work:
      if (starts("memcpy") || starts("copyhostto") || starts("copydeviceto") ||
          starts("zecommandlistappendmemorycopy")) {
        return "gpu_memcpy";
      }
      if (starts("memset") || starts("fillbuffer") || starts("zecommandlistappendmemoryfill")) {
        return "gpu_memset";
      }
      return "kernel";
    case TrackContent::copies:
      return "gpu_memcpy";
    case TrackContent::derived:
      return "device_line";
    case TrackContent::tpu_work:
      return "tpu_op";
    case TrackContent::ascend_work: {
      const bool is_of_steps = std::ranges::any_of(kAscendSpans, starts) || event_name == "Reduce";
      const bool waits = starts("notify_wait") || starts("event_wait");
      return is_of_steps || waits ? "device_line" : "ascend_hardware";
    }
    case TrackContent::ascend_host:
      return "ascend_host";
    case TrackContent::host:
      return {};
  }
  return {};
}

std::vector<bool> repeats_others(std::span<const DeviceRow> rows) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (rows[a].start_ns != rows[b].start_ns) return rows[a].start_ns < rows[b].start_ns;
    return rows[a].end_ns > rows[b].end_ns;
  });
  std::vector<std::size_t> around(rows.size(), kNone);
  std::vector<std::int64_t> filled(rows.size(), 0);  // by what is directly inside
  std::vector<std::int64_t> filled_until(rows.size());
  std::vector<std::size_t> open;
  for (const std::size_t row : order) {
    const DeviceRow& own = rows[row];
    filled_until[row] = own.start_ns;
    while (!open.empty() && rows[open.back()].end_ns < own.end_ns) open.pop_back();
    const bool is_after = !open.empty() && rows[open.back()].end_ns <= own.start_ns;
    if (!open.empty() && !is_after) {
      const std::size_t outer = open.back();
      around[row] = outer;
      filled[outer] +=
          std::max<std::int64_t>(own.end_ns - std::max(own.start_ns, filled_until[outer]), 0);
      filled_until[outer] = std::max(filled_until[outer], own.end_ns);
    }
    open.push_back(row);
  }
  std::vector<bool> repeats(rows.size(), false);
  std::vector<bool> covers(rows.size(), false);  // it, or a row around it, counts with its contents
  for (const std::size_t row : order) {
    if (around[row] != kNone && covers[around[row]]) {
      repeats[row] = covers[row] = true;
      continue;
    }
    const std::int64_t length = rows[row].end_ns - rows[row].start_ns;
    const bool groups = filled[row] > 0 && filled[row] >= length - filled[row];
    repeats[row] = groups;
    covers[row] = !groups;
  }
  return repeats;
}

}  // namespace tbtrace
