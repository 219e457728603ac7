#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/nearest_integer.h"
#include "io/sink.h"
#include "writers/memory/timeline_formats.h"

namespace tbtrace::writers {

namespace {

/// Divides like Python: into a double, whose rounding may give the next microsecond.
std::int64_t microseconds(std::int64_t ns) {
  return truncated_integer(static_cast<double>(static_cast<long double>(ns) / 1000.0L));
}

template <typename... Values>
void add(std::string& text, fmt::format_string<Values...> form, Values&&... values) {
  fmt::format_to(std::back_inserter(text), form, std::forward<Values>(values)...);
}

}  // namespace

MemorySizes memory_sizes(const MemoryTimeline& timeline) {
  MemorySizes sizes;
  std::int64_t first = -1;
  for (const MemoryTimelineRow& row : timeline) {
    const std::int64_t time = row.time_ns < 0 ? -1 : microseconds(row.time_ns);
    if (first < 0 && time >= 0) first = time;
    if (sizes.times_us.empty()) {
      sizes.times_us.push_back(time);
      sizes.bytes.emplace_back();
    } else if (time != sizes.times_us.back()) {
      sizes.times_us.push_back(time);
      sizes.bytes.push_back(sizes.bytes.back());
    }
    sizes.bytes.back()[static_cast<std::size_t>(row.category)] += row.bytes;
  }
  if (!sizes.times_us.empty() && sizes.times_us.front() < 0) sizes.times_us.front() = first;
  return sizes;
}

std::string memory_timeline_raw_json(const MemoryTimeline& timeline) {
  std::string json = "[";
  for (const MemoryTimelineRow& row : timeline) {
    if (json.size() > 1) json += ", ";
    add(json, "[{}, {}, {}, {}]", row.time_ns, static_cast<int>(row.action), row.bytes,
        static_cast<int>(row.category));
  }
  json += ']';
  return json;
}

std::string memory_timeline_json(const MemoryTimeline& timeline) {
  const MemorySizes sizes = memory_sizes(timeline);
  std::string json = "[[";
  for (std::size_t at = 0; at < sizes.times_us.size(); ++at) {
    add(json, "{}{}", at > 0 ? ", " : "", sizes.times_us[at]);
  }
  json += "], [";
  for (std::size_t at = 0; at < sizes.bytes.size(); ++at) {
    json += at > 0 ? ", [0" : "[0";
    for (const std::int64_t bytes : sizes.bytes[at]) add(json, ", {}", bytes);
    json += ']';
  }
  json += "]]";
  return json;
}

Status write_memory_timeline(const MemoryTimeline& timeline, std::string_view device,
                             const std::string& path) {
  Result<std::unique_ptr<io::ByteSink>> file = io::create_file(path, {.overwrite = true});
  if (!file.ok()) return file.status();
  std::unique_ptr<io::ByteSink> out = *std::move(file);
  if (path.ends_with(".gz")) out = io::gzip_sink(std::move(out));
  Status written;
  if (path.ends_with(".html")) {
    written = out->write(memory_timeline_html(timeline, device));
  } else if (path.ends_with("raw.json.gz")) {
    written = out->write(memory_timeline_raw_json(timeline));
  } else {
    written = out->write(memory_timeline_json(timeline));
  }
  return written.ok() ? out->close() : written;
}

}  // namespace tbtrace::writers
