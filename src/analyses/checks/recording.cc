// Checks of what a recording says of itself: its own counts, and the messages that Kineto logged.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include <tbtrace/recovered.h>

#include "analyses/checks/list.h"
#include "analyses/recording/sliced.h"
#include "base/characters.h"
#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

std::string_view metadata(const Trace& trace, std::string_view key) {
  const auto found = trace.metadata().find(key);
  return found == trace.metadata().end() ? std::string_view() : std::string_view(found->second);
}

/// The number at the beginning of a text, in quotes or not; 0 without one.
std::uint64_t number_at(std::string_view text) {
  if (text.starts_with('"')) text.remove_prefix(1);
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Adds a count that the recording has in a top-level member.
void add_count(const Trace& trace, std::string_view key, CheckHits& hits) {
  hits.count = number_at(metadata(trace, key));
  if (hits.count > 0) hits.example = key;
}

/// The messages that Kineto logged while it recorded, as JSON lists.
std::array<std::string_view, 3> messages(const Trace& trace) {
  return {metadata(trace, "ERROR"), metadata(trace, "WARNING"), metadata(trace, "INFO")};
}

/// The sum of the numbers that come after a text in the messages.
std::uint64_t logged(const Trace& trace, std::string_view text) {
  std::uint64_t sum = 0;
  for (std::string_view list : messages(trace)) {
    for (std::size_t at = list.find(text); at != std::string_view::npos; at = list.find(text)) {
      list.remove_prefix(at + text.size());
      sum += number_at(list);
    }
  }
  return sum;
}

/// What the recorder says of the device's activity, if it is not all there.
std::string_view device_tracing_problem(const Trace& trace) {
  const std::string_view problem = metadata(trace, "tbtrace_device_tracing");
  return problem.size() > 2 ? problem.substr(1, problem.size() - 2) : std::string_view{};
}

}  // namespace

void find_no_events(const Trace& trace, CheckHits& hits) {
  if (trace.events().size() == 0 && trace.memory().empty()) hits.add("");
}

void find_event_limit(const Trace& trace, CheckHits& hits) {
  constexpr std::size_t kLimit = 1'000'000;
  if (trace.events().size() != kLimit) return;
  hits.describe(trace.by_start().back());
  hits.count = 1;
}

void find_dropped_windows(const Trace& trace, CheckHits& hits) {
  add_count(trace, "tbtrace_dropped_windows", hits);
}

void find_lost_records(const Trace& trace, CheckHits& hits) {
  add_count(trace, "tbtrace_lost_records", hits);
  const std::optional<RecoveredRecording> recovered = recovered_recording(trace);
  if (hits.count > 0 || !recovered || recovered->lost_records == 0) return;
  hits.count = recovered->lost_records;
  hits.example = "tbtrace_recovered";
  hits.cause = "host records were lost from the journal, so counts and times may be too low";
  hits.remedy = "do not compare this trace with complete ones";
}

void find_damaged_parts(const Trace& trace, CheckHits& hits) {
  add_count(trace, "tbtrace_unreadable_chunks", hits);
}

void find_part_of_a_trace(const Trace& trace, CheckHits& hits) {
  const std::optional<SlicedPart> part = sliced_part(trace);
  if (!part) return;
  hits.count = 1;
  hits.example = part->source;
  hits.cause = "this is a part of a trace";
  if (!part->without.empty()) hits.cause += ", without " + part->without;
  if (part->has_choice) hits.cause += ", of some threads or names";
  // A time is whole; of the others figures would be taken for those of the program.
  if (part->is_whole()) return;
  hits.cause += ": what was left out counts as not recorded, also for idle time";
  hits.severity = CheckSeverity::warning;
}

void find_recovered_trace(const Trace& trace, CheckHits& hits) {
  const std::optional<RecoveredRecording> recovered = recovered_recording(trace);
  if (!recovered) return;
  hits.count = 1;
  hits.cause = recovered_sentence(*recovered);
  hits.remedy = recovered_remedy(*recovered);
  if (recovered->threads.empty()) return;
  const UnfinishedThread& last = recovered->threads.front();
  hits.example = last.thread + ": " + unfinished_chain(last);
  hits.at_ns = last.start_ns;
}

void find_lost_device_records(const Trace& trace, CheckHits& hits) {
  add_count(trace, "tbtrace_lost_device_records", hits);
  const std::uint64_t dropped = logged(trace, "Dropped ");
  if (dropped > 0 && hits.count == 0) hits.example = "Dropped activity records";
  hits.count += dropped;
}

void find_failed_device_tracing(const Trace& trace, CheckHits& hits) {
  const std::string_view problem = device_tracing_problem(trace);
  if (!problem.empty() && links_of(trace).device_work().empty()) hits.add(problem);
}

void find_incomplete_device_tracing(const Trace& trace, CheckHits& hits) {
  const std::string_view problem = device_tracing_problem(trace);
  if (problem.empty() || links_of(trace).device_work().empty()) return;
  hits.add(problem);
  if (!recovered_recording(trace)) return;
  hits.severity = CheckSeverity::info;
  hits.remedy = "kernels and memcpys of the process's last second may be missing";
}

void find_out_of_range_records(const Trace& trace, CheckHits& hits) {
  hits.count = logged(trace, "Out-of-range = ");
  if (hits.count > 0) hits.example = "Out-of-range";
  const bool most = hits.count > links_of(trace).device_work().size() + trace.events().size();
  // A part has fewer events than the recording of which this is said.
  if (most && !sliced_part(trace)) hits.severity = CheckSeverity::warning;
}

void find_stopped_early(const Trace& trace, CheckHits& hits) {
  hits.count = logged(trace, "CUPTI stopped early? = ");
  if (hits.count > 0) hits.example = "CUPTI stopped early";
}

void find_profiler_errors(const Trace& trace, CheckHits& hits) {
  const std::string_view list = metadata(trace, "ERROR");
  // What records devices failed; other messages may be about anything.
  const std::string lower = lower_case(list);
  for (const std::string_view tracer : {"cupti", "roctracer", "rocprofiler", "xpupti"}) {
    if (lower.find(tracer) != std::string::npos) hits.severity = CheckSeverity::warning;
  }
  constexpr std::size_t kMost = 200;
  for (std::size_t at = 0; at < list.size(); ++at) {
    if (list[at] != '"') continue;
    const std::size_t begin = at + 1;
    for (++at; at < list.size() && list[at] != '"'; ++at) at += list[at] == '\\';
    hits.add(list.substr(begin, std::min({at, list.size(), begin + kMost}) - begin));
  }
}

}  // namespace tbtrace::analyses
