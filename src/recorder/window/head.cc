#include "recorder/window/head.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/host_name.h"
#include "base/utf8.h"
#include "recorder/window/device_links.h"
#include "recorder/window/device_rows.h"
#include "wire/json_strict.h"
#include "wire/json_text.h"

namespace tbtrace::recorder {

std::vector<std::pair<std::string, std::string>> trace_members(const Window& window) {
  const Recording& recording = window.recording();
  const RecordingOptions& options = recording.options();
  const DeviceTrace* const devices = window.device_trace();
  std::vector<std::pair<std::string, std::string>> members;
  const auto member = [&](std::string_view key, std::string json) {
    members.emplace_back(key, std::move(json));
  };
  member("schemaVersion", "1");
  member("deviceProperties", devices == nullptr ? "[]" : device_properties_json(devices->devices));
  const auto own_member = [&](const char* key, std::string json) {
    if (!recording.metadata().contains(key)) member(key, std::move(json));
  };
  for (const auto& [key, json] : recording.metadata()) {
    // A value that is not valid JSON would make the whole file invalid, so it is written as a
    // string.
    std::string value;
    if (!wire::append_strict_json(value, json, true)) wire::append_json_string(value, json);
    member(is_utf8(key) ? key : to_utf8(key), std::move(value));
  }
  for (const auto& [key, is_on] : {std::pair("profile_memory", options.profile_memory),
                                   std::pair("record_shapes", options.record_shapes),
                                   std::pair("with_flops", options.with_flops),
                                   std::pair("with_modules", options.with_modules),
                                   std::pair("with_stack", options.with_stack)}) {
    if (is_on) own_member(key, "1");
  }
  if (const OtherProcess* const other = recording.other_process()) {
    std::string host;
    wire::append_json_string(host, other->host);
    // The window's own clock ends with that of the process, but for rounding.
    const bool ends_with_it = other->ended_within && !window.is_part();
    member("tbtrace_recovered",
           fmt::format(R"({{"process_id": {}, "host": {}, "last_sign_of_life_ns": {}, )"
                       R"("unfinished_ranges": {}, "window_was_open": {}, "is_part": {}, )"
                       R"("lost_records": {}}})",
                       other->id, host, ends_with_it ? window.end_ns() : other->last_sign_ns,
                       window.unfinished_ranges(), other->ended_within, window.is_part(),
                       recording.lost()));
  }
  if (recording.lost() > 0) member("tbtrace_lost_records", std::to_string(recording.lost()));
  if (window.unreadable_chunks() > 0) {
    member("tbtrace_unreadable_chunks", std::to_string(window.unreadable_chunks()));
  }
  if (devices != nullptr) {
    const auto number = [&](const char* key, std::uint64_t value) {
      if (value > 0) own_member(key, std::to_string(value));
    };
    number("cupti_version", devices->interface_version);
    number("cuda_runtime_version", static_cast<std::uint64_t>(devices->runtime_version));
    number("cuda_driver_version", static_cast<std::uint64_t>(devices->driver_version));
    number("tbtrace_lost_device_records", devices->lost);
    number("tbtrace_untimed_device_records", devices->untimed);
    const DeviceLinks& links = window.device_links();
    if (links.checked > 0) {
      own_member("tbtrace_launch_check", fmt::format(R"({{"calls": {}, "different": {}}})",
                                                     links.checked, links.different));
    }
    if (!devices->problem.empty()) {
      std::string problem;
      wire::append_json_string(problem, devices->problem);
      own_member("tbtrace_device_tracing", std::move(problem));
    }
  }
  std::string host;
  wire::append_json_string(
      host, recording.other_process() == nullptr ? host_name() : recording.other_process()->host);
  own_member("host_name", std::move(host));
  own_member("trace_id", fmt::format("\"{}\"", recording.trace_id()));
  member("displayTimeUnit", "\"ms\"");
  member("baseTimeNanoseconds", std::to_string(base_time_ns(window)));
  return members;
}

std::int64_t base_time_ns(const Window& window) {
  constexpr std::int64_t kPeriod = std::int64_t{7'889'238} * 1'000'000'000;
  return window.start_ns() / kPeriod * kPeriod;
}

std::uint64_t first_external_id(const Window& window) {
  std::uint64_t first = 1;
  if (window.device_trace() == nullptr) return first;
  // Readers take a file whose ids are the calls' correlations for one of Kineto's faulty ones.
  for (const ApiCall& call : window.device_trace()->calls) {
    first = std::max<std::uint64_t>(first, std::uint64_t{call.correlation} + 1);
  }
  return first;
}

std::string program_name(const Window& window, std::int64_t process) {
  for (const auto& log : window.recording().logs()) {
    if (log->identity().system_id == process) return log->identity().name;
  }
  return "process";
}

}  // namespace tbtrace::recorder
