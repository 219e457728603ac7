#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <tbtrace/slice.h>
#include <tbtrace/steps.h>

#include "analyses/recording/sliced.h"
#include "analyses/steps/selection.h"
#include "base/bounded_sum.h"
#include "base/time_ranges.h"
#include "chrome/convert/convert_trace.h"
#include "chrome/kineto/rows.h"
#include "chrome/rows/selection.h"
#include "chrome/slice/row_sizes.h"
#include "io/discarded_text.h"
#include "io/sink.h"
#include "wire/json_emitter.h"
#include "wire/json_strict.h"

namespace tbtrace {

std::string_view slice_kind_name(SliceKind kind) {
  constexpr std::array<std::string_view, kSliceKinds> kNames = {
      "operators", "annotations", "frames", "calls", "kernels", "memory", "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

namespace {

using chrome::KinetoDocument;
using chrome::KinetoPart;
using chrome::RowSelection;
using chrome::Selected;

template <typename Texts>
std::string joined(const Texts& texts) {
  std::string all;
  for (const std::string_view text : texts) {
    if (!all.empty()) all += ", ";
    all += text;
  }
  return all;
}

/// The same, asked once for each name; names must stay where they are.
std::function<bool(std::string_view name)> once_for_each(
    const std::function<bool(std::string_view name)>& accepts) {
  if (!accepts) return {};
  return [&accepts, known = std::make_shared<std::unordered_map<std::string_view, bool>>()](
             std::string_view name) {
    const auto found = known->find(name);
    return found != known->end() ? found->second
                                 : known->emplace(name, accepts(name)).first->second;
  };
}

class Slice {
 public:
  Slice(const std::string& path, const SliceOptions& options) : path_(path), options_(options) {}

  Result<SliceReport> run(const std::string& output) {
    if (Status place = io::check_place(output, options_.overwrite); !place.ok()) return place;
    auto opened = chrome::TraceConverter::open(path_, {.dialect = Dialect::kineto,
                                                       .strict = options_.strict,
                                                       .threads = options_.reading_threads,
                                                       .on_progress = options_.on_progress});
    if (!opened.ok()) return opened.status();
    converter_ = *std::move(opened);
    Selected wanted = {.threads = options_.threads,
                       .kinds = options_.kinds,
                       .accepts_name = once_for_each(options_.accepts_name)};
    if (Status chosen = choose_time(wanted); !chosen.ok()) return chosen;
    if (options_.most_bytes > 0) {
      if (Status fits = fit(wanted); !fits.ok()) return fits;
    }
    const RowSelection selection(trace(), wanted);
    if (selection.is_empty()) {
      return Status(StatusCode::invalid_argument,
                    "nothing is left: no event satisfies all that was asked for");
    }
    return write(wanted, selection, output);
  }

 private:
  const Trace& trace() const { return converter_->trace(); }

  Status choose_time(Selected& wanted) {
    if (const auto* const time = std::get_if<SliceTime>(&options_.part)) {
      const std::int64_t window = trace().window_start_ns();
      const std::int64_t end = bounded_sum(trace().window_end_ns(), 1);  // what ends with it, too
      wanted.host = {bounded_sum(window, time->start_ns),
                     std::min(end, bounded_sum(window, time->end_ns))};
      wanted.devices = wanted.host;
      return {};
    }
    std::optional<StepRange> steps;
    if (const auto* const chosen = std::get_if<StepRange>(&options_.part)) steps = *chosen;
    if (std::holds_alternative<SliceSlowestStep>(options_.part)) {
      const StepBreakdown breakdown = step_breakdown(trace(), {.keep_tail_steps = true});
      if (!breakdown.has_steps()) {
        return {
            StatusCode::invalid_argument,
            "the trace has no steps, so none of them is the slowest. " + breakdown.why_no_steps};
      }
      const auto slowest = std::ranges::max_element(breakdown.steps, {}, &StepTime::duration_ns);
      steps = StepRange{slowest->number, slowest->number};
    }
    const auto host = analyses::host_time_of_steps(trace(), steps);
    if (!host.ok()) return host.status();
    const auto devices = analyses::window_of_steps(trace(), steps);
    if (!devices.ok()) return devices.status();
    wanted.host = *host;
    // Also what the devices still had to do when the first step began on the host.
    if (*host) {
      wanted.devices = TimeRange{std::min((*host)->start, (*devices)->start),
                                 std::max((*host)->end, (*devices)->end)};
    }
    return {};
  }

  /// The middle of the median step in the time, by duration; of the time if no step is in it.
  std::int64_t center_of(TimeRange time) const {
    std::vector<TimeRange> steps;
    for (const Step& step : trace().steps()) {
      if (step.event == EventId::none) continue;
      const TimeRange range = {trace().events().start_ns(step.event),
                               trace().events().end_ns(step.event)};
      if (time.start <= range.start && range.end <= time.end) steps.push_back(range);
    }
    TimeRange around = time;
    if (!steps.empty()) {
      const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
      std::ranges::nth_element(steps, middle, {},
                               [](const TimeRange& step) { return step.end - step.start; });
      around = *middle;
    }
    return around.start + (around.end - around.start) / 2;
  }

  /// Narrows the time until the file has no more bytes than it may.
  Status fit(Selected& wanted) {
    chrome::RowSizes sizes(trace());
    const RowSelection all(trace(), wanted);
    KinetoPart part = {.selection = all, .member = [] { return std::string(); }, .sizes = &sizes};
    io::DiscardedText text;
    KinetoDocument document(trace(), false, text, &part);
    const Result<Changes> written = converter_->write(document, text);
    if (!written.ok()) return written.status();
    constexpr std::uint64_t kMember = 4096;  // `tbtrace_slice`
    const std::uint64_t fixed = text.bytes() - part.bytes + kMember;
    const auto fits = [&](const RowSelection& selection) {
      return fixed + sizes.total(selection) <= options_.most_bytes;
    };
    if (text.bytes() + kMember <= options_.most_bytes) return {};
    const TimeRange whole =
        wanted.host.value_or(TimeRange{trace().window_start_ns(), trace().window_end_ns() + 1});
    const std::int64_t center = center_of(whole);
    const auto around = [&](std::int64_t half) {
      Selected narrow = wanted;
      narrow.host = {std::max(whole.start, center - half), std::min(whole.end, center + half + 1)};
      narrow.devices = narrow.host;
      return narrow;
    };
    std::int64_t fitting = -1;
    std::int64_t too_much = std::max(center - whole.start, whole.end - center);
    constexpr std::int64_t kCloseEnough = 128;  // to a part of what is tried
    while (too_much - fitting > 1 + std::max<std::int64_t>(fitting, 0) / kCloseEnough) {
      const std::int64_t half = fitting + (too_much - fitting) / 2;
      (fits(RowSelection(trace(), around(half))) ? fitting : too_much) = half;
    }
    if (fitting < 0) {
      return {StatusCode::invalid_argument,
              "no part of it is as small as that: what every part has, such as the names of "
              "threads, takes " +
                  std::to_string(fixed + sizes.total(RowSelection(trace(), around(0)))) + " bytes"};
    }
    wanted = around(fitting);
    return {};
  }

  Result<SliceReport> write(const Selected& wanted, const RowSelection& selection,
                            const std::string& output) {
    SliceReport report;
    if (wanted.host) {
      const std::int64_t window = trace().window_start_ns();
      report.time = {bounded_sum(wanted.host->start, -window),
                     bounded_sum(wanted.host->end, -window)};
    }
    for (const Step& step : trace().steps()) {
      if (step.event == EventId::none || !selection.takes_range(step.event)) continue;
      if (!selection.cuts(step.event)) report.steps.push_back(step.number);
    }
    Result<std::unique_ptr<io::ByteSink>> sink =
        io::open_output(output, {.overwrite = options_.overwrite});
    if (!sink.ok()) return sink.status();
    KinetoPart part = {.selection = selection, .member = [&] {
                         take_counts(part, report);
                         return member(report);
                       }};
    KinetoDocument document(trace(), false, **sink, &part);
    Result<Changes> changes = converter_->write(document, **sink);
    if (!changes.ok()) return changes.status();
    report.changes = *std::move(changes);
    report.issues = converter_->issues();
    return report;
  }

  static void take_counts(const KinetoPart& part, SliceReport& report) {
    report.events = part.rows;
    report.left_out = part.left_out;
    report.cut = part.cut;
    report.bytes = part.bytes;
  }

  /// The kinds that are left out, here or when the whole was made: `frames, memory`.
  std::string without() const {
    std::vector<std::string_view> kinds;
    for (std::size_t number = 0; number < kSliceKinds; ++number) {
      const std::string_view kind = slice_kind_name(static_cast<SliceKind>(number));
      if (!options_.kinds[number] || analyses::was_left_out(trace(), kind)) kinds.push_back(kind);
    }
    return joined(kinds);
  }

  /// docs/formats/slice.md.
  std::string member(const SliceReport& report) const {
    std::string json;
    wire::JsonEmitter out(json);
    out.begin_object();
    out.key("version");
    out.integer(1);
    out.member("source", std::filesystem::path(path_).filename().string());
    if (report.time) {
      out.key("start_ns");
      out.integer(report.time->start_ns);
      out.key("end_ns");
      out.integer(report.time->end_ns);
    }
    out.key("steps");
    out.begin_array();
    for (const std::int64_t step : report.steps) out.integer(step);
    out.end_array();
    if (!options_.threads.empty()) out.member("threads", joined(options_.threads));
    if (const std::string kinds = without(); !kinds.empty()) out.member("without", kinds);
    if (options_.accepts_name) out.member("name", options_.name_pattern);
    out.key("events");
    out.integer(report.events);
    out.key("left_out");
    out.integer(report.left_out);
    out.key("cut");
    out.integer(report.cut);
    // Of a slice of a slice.
    if (const auto before = trace().metadata().find(analyses::kSliceMember);
        before != trace().metadata().end()) {
      std::string strict;
      if (wire::append_strict_json(strict, before->second, true)) {
        out.key("part_of");
        out.raw(strict);
      }
    }
    out.end_object();
    return json;
  }

  const std::string& path_;
  const SliceOptions& options_;
  std::unique_ptr<chrome::TraceConverter> converter_;
};

}  // namespace

Result<SliceReport> slice_trace(const std::string& path, const std::string& output,
                                const SliceOptions& options) {
  return Slice(path, options).run(output);
}

}  // namespace tbtrace
