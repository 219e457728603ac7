// What pages show of a trace: views, each with tables and stacks, and the page itself.
// A view is a document, whose shape docs/formats/views.md describes; its numbers are those of the
// tables. The timeline is one with columns of bytes: docs/formats/timeline.md. Constants and pure
// functions; results own all their data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/arguments.h>
#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

class MemorySnapshot;

struct ViewDescription {
  std::string_view name;   ///< `kernels`
  std::string_view title;  ///< `Kernels`
  std::string_view about;  ///< one sentence, for people
  bool in_report = true;   ///< a report has it even if it is not named
};

/// In the order in which people see them.
std::span<const ViewDescription> views();

/// nullptr if there is none of this name.
const ViewDescription* view_named(std::string_view name);

/// What to read a trace with, so that it has what all views need. A timeline shows all arguments
/// that there are.
ArgumentSet view_arguments();

/// How much of a trace a view has at most. What is left out is counted in the view.
struct ViewLimits {
  std::size_t rows = 100'000;      ///< of each table
  std::size_t frames = 300'000;    ///< nodes of each tree of stacks
  std::size_t characters = 500;    ///< of each text
  std::size_t ranges = 5'000'000;  ///< of a timeline: the longest ones
  std::int64_t time_unit_ns = 1;   ///< of a timeline: its times are rounded down to this
  bool range_arguments = false;    ///< a timeline has the arguments of its ranges
};

/// The document `tbtrace.view/1`, or `tbtrace.timeline/1` of the view `timeline`. Fails if there is
/// no such view, and as the view's tables do, such as for a trace that was read without
/// view_arguments().
Result<std::string> view_document(std::string_view name, const Trace& trace,
                                  const ViewLimits& limits = {});

/// A part of a timeline: `tbtrace.timeline/1` with the ranges that touch the time from `from_ns` to
/// before `to_ns`, in ns since the start of the trace's window. Fails unless it ends after it
/// begins.
Result<std::string> timeline_part(const Trace& trace, std::int64_t from_ns, std::int64_t to_ns,
                                  const ViewLimits& limits = {});

/// Where a range is in the timeline of a trace.
struct RangePlace {
  std::size_t track = 0;      ///< its number there
  std::int64_t start_ns = 0;  ///< since the start of the trace's window
  std::int64_t duration_ns = 0;
  std::string name = {};  ///< may be cut as the timeline has it
  std::size_t nth = 0;    ///< of those with the same track, start, duration and name
};

/// What the trace has of a range, `tbtrace.range/1`: the arguments that it was read with. Fails if
/// there is no such range.
Result<std::string> range_document(const Trace& trace, const RangePlace& place);

struct ReportPageOptions {
  std::string title = {};  ///< empty: the names of the traces
  /// Names of views; empty: those that are in reports. They keep their own order. `ranks` is the
  /// view of the job, if the traces are ranks of one (ranks_view.h).
  std::vector<std::string> views = {};
  /// Only these, in all views but `checks`; each trace must have them.
  std::optional<StepRange> steps = {};
  /// A directory: lines of the view `lines` that are in source files below it get their text. Links
  /// that lead out of it are not followed, and no other file is read. Empty: none.
  std::string source_root = {};
  /// Of the page. Rows and frames are left out to keep it, of the largest view first, and counted
  /// in it; ReportPage::html() fails if 50 rows of each table are too much.
  std::size_t bytes = 2'000'000;
  /// Number of threads, on which no result depends; 0: one per core.
  int threads = 0;
};

/// Fails for a view or a source root that does not exist, and for steps in the view `plugin`, whose
/// rules are about whole recordings.
Status check_report_page_options(const ReportPageOptions& options);

/// Makes one HTML page of several traces, which is complete in itself: it needs no network, no
/// other file, and runs from `file://`. If they are ranks of a job it begins with the view `ranks`.
/// Keeps what the views show, not the traces. One thread at a time.
class ReportPage {
 public:
  explicit ReportPage(ReportPageOptions options = {});
  ReportPage(ReportPage&&) noexcept;
  ReportPage& operator=(ReportPage&&) noexcept;
  ~ReportPage();

  /// `name`: such as the path of the file. Fails as view_document() does.
  Status add(const Trace& trace, std::string name);

  /// Adds the views `memory` and `flame_graph` of a memory snapshot. Fails if neither is wanted, or
  /// some steps are.
  Status add(const MemorySnapshot& snapshot, std::string name);

  /// What people should know of the job, such as job_remarks(); the view `ranks` says it.
  void add_remark(std::string remark);

  /// Fails without traces, and if they do not fit into `bytes`. Of a job those ranks that do not
  /// fit are left out; the page says so, and keeps the view `ranks`.
  Result<std::string> html() const;

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace tbtrace
