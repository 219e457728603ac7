#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include <tbtrace/recovered.h>

#include "base/bounded_sum.h"
#include "base/decimal.h"
#include "base/utf8.h"
#include "report/duration.h"
#include "trace/times.h"
#include "trace/track_keys.h"
#include "wire/json_objects.h"
#include "wire/json_strict.h"
#include "wire/json_values.h"

namespace tbtrace {
namespace {

constexpr const char* kMember = "tbtrace_recovered";
constexpr std::size_t kOutermost = 3;
constexpr std::size_t kInnermost = 9;

std::string cut(std::string_view name) {
  constexpr std::size_t kLongest = 80;
  return utf8_shortened(name, kLongest);
}

/// The members of the file's object that have a single value; a member that is of another kind than
/// it should be is unknown, and says nothing about the others.
class SaidValues {
 public:
  explicit SaidValues(std::string_view object) : values_(wire::json_scalars(object)) {}

  /// A whole number above 0, or a text that holds one.
  std::optional<std::int64_t> positive(std::string_view key) const {
    const std::string json = value(key);
    const std::optional<std::int64_t> number = parse_integer(text(key).value_or(json));
    return number && *number > 0 ? number : std::nullopt;
  }

  std::optional<std::string> text(std::string_view key) const {
    return wire::json_text(value(key));
  }

  std::optional<bool> boolean(std::string_view key) const {
    const std::string json = value(key);
    return json == "true" || json == "false" ? std::optional(json == "true") : std::nullopt;
  }

 private:
  std::string value(std::string_view key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? "" : found->second;
  }

  std::map<std::string, std::string, std::less<>> values_;
};

/// What the member of the file says.
std::optional<RecoveredRecording> said_by_file(const Trace& trace) {
  const auto member = trace.metadata().find(kMember);
  if (member == trace.metadata().end()) return std::nullopt;
  std::string json;
  if (!wire::append_strict_json(json, member->second, false) || !json.starts_with('{')) {
    return std::nullopt;
  }
  const SaidValues values(json);
  RecoveredRecording said;
  said.process_id = values.positive("process_id");
  said.host = values.text("host").value_or("");
  said.window_was_open = values.boolean("window_was_open");
  said.is_part = values.boolean("is_part").value_or(false);
  said.lost_records = static_cast<std::uint64_t>(values.positive("lost_records").value_or(0));
  said.last_sign_of_life_ns = values.positive("last_sign_of_life_ns");
  if (const std::optional<std::int64_t> start = trace.identity().start_ns;
      start && said.last_sign_of_life_ns) {
    said.last_sign_after_start_ns = bounded(WideInteger{*said.last_sign_of_life_ns} - *start);
  }
  return said;
}

/// The unfinished ranges of a thread that are open in its innermost one, the outermost first. The
/// innermost is the one that began last, of several the one that is shortest, then the last one.
std::vector<EventId> open_chain(const Events& events, const std::vector<EventId>& unfinished) {
  const auto is_outside = [&](EventId one, EventId other) {
    return std::pair(events.start_ns(one), -events.duration_ns(one)) <
           std::pair(events.start_ns(other), -events.duration_ns(other));
  };
  std::vector<EventId> chain = unfinished;  // by start, equal ones in the order of the file
  std::ranges::stable_sort(chain, is_outside);
  const std::int64_t end = events.end_ns(chain.back());
  std::erase_if(chain, [&](EventId event) { return events.end_ns(event) < end; });
  return chain;
}

UnfinishedThread thread_of(const Trace& trace, const std::vector<EventId>& chain) {
  const Events& events = trace.events();
  UnfinishedThread thread;
  thread.thread = track_label(trace, trace.track(events.track(chain.back())), "thread");
  thread.start_ns = since_start(trace, events.start_ns(chain.back()));
  thread.open_ns = events.duration_ns(chain.back());
  const std::size_t left_out =
      chain.size() > kOutermost + kInnermost ? chain.size() - kOutermost - kInnermost : 0;
  thread.ranges_left_out = left_out;
  for (std::size_t at = 0; at < chain.size(); ++at) {
    if (left_out > 0 && at == kOutermost) at += left_out;
    thread.ranges.emplace_back(trace.name(chain[at]));
  }
  return thread;
}

void add_threads(RecoveredRecording& recovered, const Trace& trace) {
  const Events& events = trace.events();
  std::vector<std::vector<EventId>> unfinished(trace.tracks().size());
  for (const EventId event : trace.by_start()) {
    if (!events.unfinished(event) || !is_host_range(trace.kind(event))) continue;
    unfinished[index(events.track(event))].push_back(event);
    ++recovered.unfinished_ranges;
  }
  std::vector<std::vector<EventId>> chains;
  for (const std::vector<EventId>& of_track : unfinished) {
    if (!of_track.empty()) chains.push_back(open_chain(events, of_track));
  }
  std::ranges::stable_sort(chains, std::ranges::greater(), [&](const std::vector<EventId>& chain) {
    return events.start_ns(chain.back());
  });
  const std::size_t shown = std::min(chains.size(), RecoveredRecording::kMostThreads);
  recovered.threads_left_out = chains.size() - shown;
  for (std::size_t at = 0; at < shown; ++at) {
    recovered.threads.push_back(thread_of(trace, chains[at]));
  }
}

}  // namespace

std::optional<RecoveredRecording> recovered_recording(const Trace& trace) {
  std::optional<RecoveredRecording> recovered = said_by_file(trace);
  if (recovered) add_threads(*recovered, trace);
  return recovered;
}

std::string recovered_sentence(const RecoveredRecording& recovered) {
  std::string text = "This trace was recovered from a journal: ";
  text += recovered.process_id ? "process " + std::to_string(*recovered.process_id) : "its process";
  if (!recovered.host.empty()) text += " on " + cut(recovered.host);
  text += " ended";
  if (recovered.window_was_open == true) text += " without closing its window";
  if (recovered.window_was_open == false) text += "; the window had ended, but was not written";
  if (const std::optional<std::int64_t>& after = recovered.last_sign_after_start_ns) {
    text += recovered.window_was_open == false ? "; " : ", ";
    text += "last sign of life " +
            report::duration_text(*after < 0 ? bounded(-WideInteger{*after}) : *after);
    text += *after < 0 ? " before the window's start" : " after the window's start";
  }
  return text;
}

std::string recovered_remedy(const RecoveredRecording& recovered) {
  std::string text;
  if (recovered.window_was_open == false) {
    text = "the window had ended before, so it does not show what the process was doing then; ";
  } else if (recovered.lost_records > 0) {
    text = "records were lost, so ranges that seem to be open may have ended before; ";
  } else if (!recovered.threads.empty()) {
    text = "look first at the innermost ranges: the process was in them then; ";
  } else if (recovered.is_part) {
    text = "this is a part of the window, in which no range was open at its end; ";
  } else {
    text = "no range was open then, so look at what ran last in the timeline; ";
  }
  text +=
      "if the process was killed for its memory or its time limit, the log of the system or of the "
      "job scheduler says so";
  if (recovered.lost_records > 0) {
    text += "; " + std::to_string(recovered.lost_records) +
            (recovered.lost_records == 1 ? " record was" : " records were") +
            " lost, so counts and times may be too low";
  }
  return text;
}

std::string unfinished_chain(const UnfinishedThread& thread) {
  std::string text;
  for (std::size_t at = 0; at < thread.ranges.size(); ++at) {
    if (at > 0) text += " > ";
    if (thread.ranges_left_out > 0 && at == kOutermost) {
      text += "... " + std::to_string(thread.ranges_left_out) + " more ... > ";
    }
    text += "`" + cut(thread.ranges[at]) + "`";
  }
  return text;
}

}  // namespace tbtrace
