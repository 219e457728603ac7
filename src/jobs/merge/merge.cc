#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <tbtrace/merge.h>

#include "analyses/steps/selection.h"
#include "base/bounded_sum.h"
#include "base/threads.h"
#include "chrome/rows/selection.h"
#include "io/archives/input.h"
#include "io/archives/unpacked.h"
#include "io/sink.h"
#include "jobs/merge/background_sink.h"
#include "jobs/merge/merged_rows.h"
#include "jobs/merge/part_times.h"
#include "readers/chrome/document.h"
#include "readers/chrome/reader.h"
#include "readers/formats/format.h"
#include "readers/formats/only_trace.h"
#include "trace/issues.h"
#include "trace/trace_builder.h"
#include "wire/json_emitter.h"
#include "wire/json_strict.h"

namespace tbtrace {
namespace {

namespace fs = std::filesystem;
using jobs::EventArray;
using jobs::MergedRows;
using jobs::PartPlan;
using jobs::PartTimes;
using wire::JsonEmitter;

/// What is written of a part after all events.
struct PartEnd {
  std::int64_t number = 0;
  std::vector<std::pair<std::string, std::string>> members;  ///< names and JSON
  std::vector<std::string> long_ids;
  std::uint64_t events = 0;
};

/// The text of a trace, of a format whose events can be copied.
Result<std::unique_ptr<io::ByteSource>> trace_text(std::unique_ptr<io::ByteSource> raw) {
  Result<io::Unpacked> content = io::unpacked(std::move(raw));
  if (!content.ok()) return content.status();
  if (content->archive != io::PackedKind::none) {
    Result<std::unique_ptr<io::ByteSource>> trace = readers::only_trace(*std::move(content));
    if (!trace.ok()) return trace.status();
    return trace_text(*std::move(trace));
  }
  const Result<std::string> start = io::peek(content->source, readers::kSniffSize);
  if (!start.ok()) return start.status();
  const Result<const readers::Format*> format = readers::find_format(*start);
  if (!format.ok()) return format.status();
  if (std::string_view((*format)->name) != "chrome_json") {
    return (*format)->read(*content->source, {}).status();  // says what it is
  }
  return std::move(content->source);
}

/// Numbers of parts: ranks, if they tell parts apart.
std::vector<std::int64_t> numbers_of(const std::vector<MergePart>& parts) {
  std::set<std::int64_t> ranks;
  for (const MergePart& part : parts) {
    // A rank with more digits would leave too few to the ids.
    constexpr std::int64_t kMost = 99'999;
    if (part.file.rank && *part.file.rank <= kMost) ranks.insert(*part.file.rank);
  }
  std::vector<std::int64_t> numbers;
  for (std::size_t place = 0; place < parts.size(); ++place) {
    numbers.push_back(ranks.size() == parts.size() ? *parts[place].file.rank
                                                   : static_cast<std::int64_t>(place));
  }
  return numbers;
}

std::string folder_of_all(const std::vector<MergePart>& parts) {
  fs::path common = fs::path(parts.front().file.path).parent_path();
  for (const MergePart& part : parts) {
    const fs::path folder = fs::path(part.file.path).parent_path();
    fs::path shared;
    const auto [end, other] =
        std::mismatch(common.begin(), common.end(), folder.begin(), folder.end());
    for (auto each = common.begin(); each != end; ++each) shared /= *each;
    common = shared;
  }
  return common.string();
}

class Merge {
 public:
  Merge(const std::vector<MergePart>& parts, const MergeOptions& options)
      : parts_(parts), options_(options), numbers_(numbers_of(parts)) {
    digits_ = std::to_string(*std::ranges::max_element(numbers_)).size();
    std::set<std::int64_t> iterations;
    for (const MergePart& part : parts_) {
      if (part.file.iteration) iterations.insert(*part.file.iteration);
      if (part.file.window > 0) has_windows_ = true;
      std::error_code error;
      const auto size = fs::file_size(part.file.path, error);
      if (!error) total_ += size;
    }
    has_iterations_ = iterations.size() > 1;
    choose_base();
  }

  Result<MergeReport> run(std::unique_ptr<io::ByteSink> sink) {
    std::string head;
    write_head(head);
    EventArray array(*sink, std::move(head));
    MergeReport report;
    report.are_clocks_aligned =
        std::ranges::all_of(parts_, [](const MergePart& part) { return part.clock.has_value(); });
    bool has_any = false;
    for (std::size_t place = 0; place < parts_.size(); ++place) {
      MergedPart& merged = report.parts.emplace_back();
      merged.path = parts_[place].file.path;
      merged.rank = parts_[place].file.rank;
      merged.number = numbers_[place];
      merged.has_wall_clock = has_wall_clock(parts_[place].file);
      if (Status stopped = merge_part(place, array, merged); !stopped.ok()) return stopped;
      has_any = has_any || merged.failure.ok();
      std::error_code error;
      const auto size = fs::file_size(merged.path, error);
      if (!error) done_ += size;
    }
    if (!has_any) {
      const MergedPart& first = report.parts.front();
      return Status(first.failure.code(), first.path + ": " + first.failure.message());
    }
    std::string tail;
    write_tail(tail);
    if (Status written = array.end(tail); !written.ok()) return written;
    if (Status closed = sink->close(); !closed.ok()) return closed;
    return report;
  }

 private:
  static bool has_wall_clock(const JobFile& file) {
    return file.start_ns.has_value() || file.base_time_ns.value_or(0) > 0;
  }

  /// The earliest of all bases, so that no time becomes negative. Files whose times count from 1970
  /// join it if they started after it.
  void choose_base() {
    bool has_base = false;
    for (const MergePart& part : parts_) {
      const std::int64_t base = part.file.base_time_ns.value_or(0);
      if (base == 0) continue;
      base_ns_ = has_base ? std::min(base_ns_, base) : base;
      has_base = true;
    }
    for (const MergePart& part : parts_) {
      const bool is_absolute = part.file.base_time_ns.value_or(0) == 0 && part.file.start_ns;
      if (is_absolute && *part.file.start_ns < base_ns_) base_ns_ = 0;
    }
  }

  /// From the part's time base to that of all. Without a clock that counts from 1970 nothing is
  /// known of it: such times are not changed.
  std::int64_t shift_of(const JobFile& file) const {
    return has_wall_clock(file) ? bounded(WideInteger{file.base_time_ns.value_or(0)} - base_ns_)
                                : 0;
  }

  PartTimes times_of(const MergePart& part) const {
    return PartTimes(shift_of(part.file), part.clock.value_or(ClockCorrection()),
                     part.file.base_time_ns.value_or(0));
  }

  std::string label_of(const MergePart& part) const {
    const JobFile& file = part.file;
    std::string label =
        file.rank ? "rank " + std::to_string(*file.rank) : fs::path(file.path).filename().string();
    if (has_iterations_ && file.iteration)
      label += ", iteration " + std::to_string(*file.iteration);
    if (has_windows_) label += ", recording " + std::to_string(file.window + 1);
    return label;
  }

  /// Fails only if the merged file cannot be completed.
  Status merge_part(std::size_t place, EventArray& array, MergedPart& merged) {
    const MergePart& part = parts_[place];
    PartPlan plan = {.number = numbers_[place],
                     .digits = digits_,
                     .label = label_of(part),
                     .times = times_of(part),
                     .keep = options_.keep};
    std::optional<Trace> trace;
    std::optional<chrome::RowSelection> steps;
    if (options_.steps) {
      Result<Trace> read = read_events(part.file.path);
      if (!read.ok()) return fail(read.status(), merged);
      trace = *std::move(read);
      const auto time = analyses::host_time_of_steps(*trace, options_.steps);
      if (!time.ok()) return fail(time.status(), merged);
      plan.trace = &*trace;
      plan.steps = &steps.emplace(*trace, chrome::Selected{.host = *time});
    }
    Result<std::unique_ptr<io::ByteSource>> file = io::open_input(part.file.path);
    if (!file.ok()) return fail(file.status(), merged);
    Result<std::unique_ptr<io::ByteSource>> text = trace_text(*std::move(file));
    if (!text.ok()) return fail(text.status(), merged);

    MergedRows rows(plan, array);
    TraceBuilder builder;
    readers::RowRequest request = {.arguments = {}};
    request.members = true;
    readers::ChromeDocument document(request, builder, rows);
    Status read = readers::read_events(**text, document, reading(array));
    if (!array.status().ok()) return array.status();
    if (read.code() == StatusCode::cancelled) return read;
    if (rows.is_restarted()) {
      return {StatusCode::unreadable_input,
              part.file.path +
                  " has two arrays `traceEvents`, of which the last one counts; convert it to "
                  "Kineto's dialect, then merge the result"};
    }
    if (!read.ok()) return fail(read, merged);
    rows.finish();
    if (!array.status().ok()) return array.status();
    const Trace head = std::move(builder).finish();
    if (head.base_time_ns() != part.file.base_time_ns.value_or(0)) {
      return {StatusCode::unreadable_input,
              part.file.path +
                  " has its time base (`baseTimeNanoseconds`) where it was not found before its "
                  "events were read; convert it to Kineto's dialect, then merge the result"};
    }
    take_issues(head, merged);
    if (options_.strict && !merged.issues.empty()) {
      const Status strict = readers::strict_failure(merged.issues.front());
      return {strict.code(), part.file.path + ": " + strict.message()};
    }
    merged.events = rows.events();
    merged.left_out = rows.left_out();
    PartEnd end = {plan.number, {}, rows.ids().long_ids(), rows.events()};
    for (const auto& [key, json] : head.metadata()) {
      if (key != "traceEvents") end.members.emplace_back(key, json);
    }
    ends_.push_back(std::move(end));
    return {};
  }

  static Status fail(const Status& why, MergedPart& merged) {
    if (why.code() == StatusCode::cancelled) return why;
    merged.failure = why;
    return {};
  }

  ReadOptions reading(const EventArray& array) {
    ReadOptions reading = {.threads = options_.threads, .arguments = {}};
    reading.on_progress = [this, &array](std::uint64_t done, std::uint64_t) {
      if (array.has_failed()) return false;
      return !options_.on_progress || options_.on_progress(done_ + done, total_);
    };
    return reading;
  }

  /// Without their arguments.
  Result<Trace> read_events(const std::string& path) const {
    Result<std::unique_ptr<io::ByteSource>> file = io::open_input(path);
    if (!file.ok()) return file.status();
    Result<readers::Reading> read =
        readers::read_source(*std::move(file), {.threads = options_.threads, .arguments = {}});
    if (!read.ok()) return read.status();
    return std::move(read->trace);
  }

  /// Events of other phases are copied, so nothing of them is lost.
  static void take_issues(const Trace& trace, MergedPart& merged) {
    constexpr std::string_view kOtherPhases =
        kIssueTable[static_cast<std::size_t>(IssueId::phase_unsupported)].id;
    for (const Issue& issue : trace.issues()) {
      if (issue.id != kOtherPhases) merged.issues.push_back(issue);
    }
  }

  void write_head(std::string& json) const {
    JsonEmitter out(json);
    out.begin_object();
    out.new_line();
    out.key("schemaVersion");
    out.integer(1);
    out.new_line();
    out.key(kMergedRanks);
    write_parts(out);
    out.new_line();
    out.member("displayTimeUnit", "ms");
    if (base_ns_ != 0) {
      out.new_line();
      out.key("baseTimeNanoseconds");
      out.integer(base_ns_);
    }
    out.new_line();
    out.key("traceEvents");
    json += "[\n";  // its events come from elsewhere
  }

  void write_parts(JsonEmitter& out) const {
    const fs::path folder = folder_of_all(parts_);
    out.begin_object();
    out.key("version");
    out.integer(1);
    out.key("digits");
    out.integer(digits_);
    out.member("clocks", std::ranges::all_of(
                             parts_, [](const MergePart& part) { return part.clock.has_value(); })
                             ? "aligned"
                             : "recorded");
    out.key("parts");
    out.begin_array();
    for (std::size_t place = 0; place < parts_.size(); ++place) {
      const MergePart& part = parts_[place];
      out.new_line();
      out.begin_object();
      out.key("number");
      out.integer(numbers_[place]);
      if (part.file.rank) {
        out.key("rank");
        out.integer(*part.file.rank);
      }
      if (part.file.iteration) {
        out.key("iteration");
        out.integer(*part.file.iteration);
      }
      if (has_windows_) {
        out.key("recording");
        out.integer(part.file.window + 1);
      }
      out.member("file", fs::path(part.file.path).lexically_relative(folder).string());
      out.member("label", label_of(part));
      out.key("shift_ns");
      out.integer(shift_of(part.file));
      if (part.clock) {
        out.key("clock_offset_ns");
        out.integer(part.clock->offset_ns);
        out.key("clock_drift_ppm");
        out.number(part.clock->drift_ppm);
        out.key("clock_error_ns");
        out.integer(part.clock->error_ns);
        out.key("clock_offset_at_ns");
        out.integer(part.clock->at_ns);
      }
      out.end_object();
    }
    out.end_array();
    out.end_object();
  }

  void write_tail(std::string& json) const {
    json += "\n],\n\"" + std::string(kMergedMetadata) + "\":";
    JsonEmitter out(json);
    out.begin_object();
    for (const PartEnd& end : ends_) {
      out.new_line();
      out.key(std::to_string(end.number));
      out.begin_object();
      out.key("events");
      out.integer(end.events);
      if (!end.long_ids.empty()) {
        out.key("long_ids");
        out.begin_array();
        for (const std::string& id : end.long_ids) out.raw(id);
        out.end_array();
      }
      out.key("members");
      out.begin_object();
      for (const auto& [key, value] : end.members) {
        out.key(key);
        std::string strict;
        if (wire::append_strict_json(strict, value, true)) {
          out.raw(strict);
        } else {
          out.text(value);
        }
      }
      out.end_object();
      out.end_object();
    }
    out.end_object();
    json += "\n}\n";
  }

  const std::vector<MergePart>& parts_;
  const MergeOptions& options_;
  const std::vector<std::int64_t> numbers_;
  std::size_t digits_ = 1;
  bool has_windows_ = false;
  bool has_iterations_ = false;
  std::int64_t base_ns_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t done_ = 0;
  std::vector<PartEnd> ends_;
};

}  // namespace

Result<MergeReport> merge_traces(const std::vector<MergePart>& parts, const std::string& output,
                                 const MergeOptions& options) {
  if (parts.empty()) return Status(StatusCode::invalid_argument, "there is no trace to merge");
  if (Status place = io::check_place(output, options.overwrite); !place.ok()) return place;
  Result<std::unique_ptr<io::ByteSink>> opened =
      io::open_output(output, {.overwrite = options.overwrite});
  if (!opened.ok()) return opened.status();
  std::unique_ptr<io::ByteSink> sink = *std::move(opened);
  if (thread_count(options.threads) > 1) sink = jobs::background_sink(std::move(sink));
  return Merge(parts, options).run(std::move(sink));
}

}  // namespace tbtrace
