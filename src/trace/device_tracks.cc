#include "trace/device_tracks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <numeric>

namespace tbtrace {
namespace {

/// Which of a track's texts a pattern applies to.
enum class Text : unsigned char { process_id, process, thread };

struct Pattern {
  Text text;
  std::string_view part;  ///< contains this
};

/// A track matches the first row whose patterns all match.
struct TrackRow {
  std::array<Pattern, 2> patterns;
  TrackContent content;
};

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

constexpr Pattern kAny = {Text::process, ""};

// Sources: torch/autograd/profiler_util.py of torch 1.4 to 1.12 (legacy export); XLA's
// xla/tsl/profiler/convert/trace_events_to_json.cc and xla/tsl/profiler/utils/xplane_schema.cc
// (JAX, TensorFlow 2); tensorflow/python/client/timeline.py (TensorFlow 1); torch_npu's
// profiler/analysis (Ascend).
constexpr std::array kTrackRows = std::to_array<TrackRow>({
    {{{{Text::process_id, "CUDA functions"}, kAny}}, TrackContent::nested_work},
    {{{{Text::process, "/device:GPU:"}, {Text::process, "stream:all"}}}, TrackContent::derived},
    {{{{Text::process, "/device:GPU:"}, {Text::thread, "Steps"}}}, TrackContent::derived},
    {{{{Text::process, "/device:GPU:"}, {Text::thread, "XLA "}}}, TrackContent::derived},
    {{{{Text::process, "/device:GPU:"}, {Text::thread, "Framework "}}}, TrackContent::derived},
    {{{{Text::process, "/device:GPU:"}, {Text::thread, "TensorFlow "}}}, TrackContent::derived},
    {{{{Text::process, "/device:GPU:"}, {Text::thread, "Launch Stats"}}}, TrackContent::derived},
    {{{{Text::process, "/device:GPU:"}, {Text::thread, "Source "}}}, TrackContent::derived},
    {{{{Text::process, "/device:GPU:"}, kAny}}, TrackContent::work},
    {{{{Text::process, "/device:TPU:"}, {Text::thread, "XLA Ops"}}}, TrackContent::tpu_work},
    {{{{Text::process, "/device:TPU:"}, kAny}}, TrackContent::derived},
});

std::string_view text_of(const TrackNames& track, Text text) {
  switch (text) {
    case Text::process_id:
      return track.process_id;
    case Text::process:
      return track.process;
    case Text::thread:
      return track.thread;
  }
  return {};
}

bool holds(const TrackNames& track, const Pattern& pattern) {
  return text_of(track, pattern.text).find(pattern.part) != std::string_view::npos;
}

}  // namespace

bool is_of_ascend(std::string_view process_name) { return process_name == "Ascend Hardware"; }

TrackContent content_of(const TrackNames& track, bool in_ascend_file) {
  if (is_of_ascend(track.process)) return TrackContent::ascend_work;
  if (in_ascend_file && track.process != "Python") return TrackContent::ascend_host;
  const auto* const row =
      std::find_if(kTrackRows.begin(), kTrackRows.end(), [&](const TrackRow& each) {
        return std::all_of(each.patterns.begin(), each.patterns.end(),
                           [&](const Pattern& pattern) { return holds(track, pattern); });
      });
  return row == kTrackRows.end() ? TrackContent::host : row->content;
}

std::string_view category_on(TrackContent content, std::string_view event_name) {
  const auto starts = [&](std::string_view lower) {  // case-insensitive
    return event_name.size() >= lower.size() &&
           std::equal(lower.begin(), lower.end(), event_name.begin(),
                      [](char a, char b) { return a == (b | 0x20); });
  };
  switch (content) {
    case TrackContent::work:
    case TrackContent::nested_work:
      if (starts("memcpy")) return "gpu_memcpy";
      if (starts("memset")) return "gpu_memset";
      return "kernel";
    case TrackContent::derived:
      return "device_line";
    case TrackContent::tpu_work:
      return "tpu_op";
    case TrackContent::ascend_work:
      return "ascend_hardware";
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
