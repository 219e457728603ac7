// The page: views of one or several traces, with the scripts that draw them, in one file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tbtrace/collectives.h>
#include <tbtrace/job_analysis.h>
#include <tbtrace/ranks_view.h>
#include <tbtrace/steps.h>
#include <tbtrace/version.h>
#include <tbtrace/views.h>

#include "base/threads.h"
#include "io/source_lines.h"
#include "pages/page_file.h"
#include "pages/report/hashes.h"
#include "pages/report/page_fit.h"
#include "pages/report/report_css.h"
#include "pages/report/report_js.h"
#include "pages/report/snapshot_views.h"
#include "pages/table_text.h"
#include "pages/view_content.h"
#include "report/source_column.h"
#include "wire/json_emitter.h"

namespace tbtrace {
namespace {

using pages::ViewContent;

using pages::ViewSection;

struct PageTrace {
  std::string name;
  std::optional<std::int64_t> rank;
  std::vector<ViewContent> views;
  std::int64_t start_ns = 0;  ///< of its window, on its own clock
};

/// What a trace is in its job.
struct PlaceInJob {
  std::int64_t rank = 0;
  /// Since the start of the rank's first recording.
  std::int64_t start_ns = 0;
};

/// Adds the text of each line to the tables of lines.
void add_source(ViewContent& content, io::SourceLines& lines) {
  if (content.view->name != "lines") return;
  for (pages::TableContent& table : content.tables) {
    report::add_source_column(table.report, lines);
    table.columns.push_back({"source", ValueType::text, true, "the text of the line"});
  }
}

/// The file names, or the whole paths where two file names are alike.
std::vector<std::string> short_names(const std::vector<PageTrace>& traces) {
  std::vector<std::string> names;
  names.reserve(traces.size());
  for (const PageTrace& trace : traces) {
    names.push_back(std::filesystem::path(trace.name).filename().string());
  }
  const std::set<std::string> different(names.begin(), names.end());
  if (different.size() == names.size()) return names;
  names.clear();
  for (const PageTrace& trace : traces) names.push_back(trace.name);
  return names;
}

/// Why a view has no data; empty if it has some. A trace without checks is a good one.
std::string_view why_empty(const ViewContent& content) {
  std::string_view why;
  for (const pages::TableContent& table : content.tables) {
    if (!table.report.table.rows.empty()) return {};
    if (why.empty()) why = table.empty;
  }
  for (const pages::StacksContent& stacks : content.stacks) {
    if (stacks.tree.total() != 0) return {};
    if (why.empty()) why = stacks.empty;
  }
  return content.view->name == "checks" ? std::string_view() : why;
}

std::string section_id(std::size_t trace, std::string_view view) {
  return "view-" + std::to_string(trace) + "-" + std::string(view);
}

/// By trace, as far as it is known.
std::vector<std::optional<PlaceInJob>> places_in(const JobCollectives& job,
                                                 const std::vector<PageTrace>& traces) {
  std::vector<std::optional<PlaceInJob>> places;
  for (const PageTrace& trace : traces) {
    const auto found = std::ranges::find_if(job.ranks, [&](const JobRank& rank) {
      return rank.record.path == trace.name || trace.rank == rank.rank;
    });
    if (found == job.ranks.end()) {
      places.emplace_back();
    } else {
      places.push_back(PlaceInJob{found->rank, trace.start_ns - found->record.start_ns});
    }
  }
  return places;
}

/// The job of the traces, if they are ranks of one.
struct PageJob {
  RanksView view;
  std::vector<std::optional<PlaceInJob>> places;  ///< by trace
  std::vector<std::int64_t> stragglers;           ///< their ranks, the costliest first
  pages::JobSection section = {};
};

/// What the view of a job may take of the page if not everything fits.
constexpr std::size_t kPercentOfJob = 40;
/// How much of the rest the views of the ranks that are kept may take at least.
constexpr std::size_t kPercentAtLeast = 60;

}  // namespace

struct ReportPage::Contents {
  ReportPageOptions options;
  std::vector<PageTrace> traces = {};
  std::vector<RankRecord> records = {};  ///< by trace, if the view of the job is wanted
  JobRemarks remarks = {};

  bool wants_ranks() const { return options.views.empty() || asks_for_ranks(); }
  bool asks_for_ranks() const {
    return std::ranges::find(options.views, ranks_view().name) != options.views.end();
  }
  std::optional<PageJob> job() const;
  std::vector<ViewSection> sections_of(const std::vector<bool>& is_kept) const;
  Result<std::vector<ViewSection>> fit(std::size_t fixed, std::optional<PageJob>& job) const;

  bool wants(const ViewDescription& view) const {
    if (options.views.empty()) return view.in_report;
    return std::ranges::find(options.views, view.name) != options.views.end();
  }

  std::size_t threads() const { return static_cast<std::size_t>(thread_count(options.threads)); }

  std::string index(const std::vector<std::string>& names, const std::string& title,
                    const std::vector<ViewSection>& sections,
                    const std::optional<PageJob>& job) const;
};

std::optional<PageJob> ReportPage::Contents::job() const {
  if (records.size() < 2) return std::nullopt;
  JobAnalysis job = analyse_job(records);
  const bool is_job = job.collectives.ranks.size() > 1 &&
                      (asks_for_ranks() || !job.collectives.collectives.empty());
  if (!is_job) return std::nullopt;
  std::vector<std::optional<PlaceInJob>> places = places_in(job.collectives, traces);
  std::vector<std::int64_t> stragglers;
  for (const Straggler& straggler : job.stragglers.stragglers) stragglers.push_back(straggler.rank);
  return PageJob{RanksView(std::move(job), remarks), std::move(places), std::move(stragglers)};
}

std::vector<ViewSection> ReportPage::Contents::sections_of(const std::vector<bool>& is_kept) const {
  std::vector<ViewSection> sections;
  for (std::size_t trace = 0; trace < traces.size(); ++trace) {
    if (!is_kept[trace]) continue;
    for (const ViewContent& content : traces[trace].views) {
      sections.push_back({.content = &content, .trace = trace});
    }
  }
  return sections;
}

/// The sections that fit beside the `fixed` bytes, and the job's. Without a job all traces have to.
Result<std::vector<ViewSection>> ReportPage::Contents::fit(std::size_t fixed,
                                                           std::optional<PageJob>& job) const {
  const std::size_t bytes = options.bytes > fixed ? options.bytes - fixed : 0;
  std::size_t rest = bytes;
  if (job) {
    Result<pages::JobSection> section = pages::job_section(job->view);
    const std::size_t most = traces.front().views.empty() ? bytes : bytes * kPercentOfJob / 100;
    if (section.ok() && section->base64.size() > most) {
      section = pages::job_section_within(job->view, most);
    }
    if (!section.ok()) return section.status();
    job->section = *std::move(section);
    rest -= std::min(rest, job->section.base64.size());
  }
  std::vector<ViewSection> sections = sections_of(std::vector<bool>(traces.size(), true));
  Status failure;
  if (pages::fit_sections(sections, rest, threads(), failure)) return sections;
  if (!failure.ok()) return failure;
  const std::size_t of_job = job ? job->section.base64.size() : 0;
  if (!job || of_job > bytes) {
    const std::size_t least = fixed + pages::bytes_of(sections) + of_job;
    return Status(StatusCode::invalid_argument,
                  "the page has at least " + std::to_string((least + 999) / 1000) +
                      " KB; allow more, or take fewer traces or views");
  }
  // As many ranks as leave room to each other, those first that are worth looking at.
  std::vector<std::size_t> bytes_of_trace(traces.size());
  for (const ViewSection& section : sections) {
    bytes_of_trace[section.trace] += section.base64.size();
  }
  std::vector<bool> is_kept(traces.size());
  std::size_t taken = 0;
  for (const std::int64_t rank : job->view.ranks_by_interest()) {
    for (std::size_t trace = 0; trace < traces.size(); ++trace) {
      if (!job->places[trace] || job->places[trace]->rank != rank) continue;
      if (taken + bytes_of_trace[trace] > rest * kPercentAtLeast / 100) continue;
      taken += bytes_of_trace[trace];
      is_kept[trace] = true;
    }
  }
  sections = sections_of(is_kept);
  pages::fit_sections(sections, rest, threads(), failure);
  if (!failure.ok()) return failure;
  return sections;
}

/// The trace that the page opens with: of the rank that holds up the job, if it is on the page.
std::size_t first_trace(const std::optional<PageJob>& job,
                        const std::vector<ViewSection>& sections) {
  if (!job) return 0;
  for (const std::int64_t rank : job->stragglers) {
    for (const ViewSection& section : sections) {
      const std::optional<PlaceInJob>& place = job->places[section.trace];
      if (place && place->rank == rank) return section.trace;
    }
  }
  return 0;
}

/// The emitter escapes `<`, so no name ends the element that this stands in.
std::string ReportPage::Contents::index(const std::vector<std::string>& names,
                                        const std::string& title,
                                        const std::vector<ViewSection>& sections,
                                        const std::optional<PageJob>& job) const {
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_object();
  json.member("schema", "tbtrace.report/1");
  json.member("version", version());
  json.member("title", title);
  json.key("views");
  json.begin_array();
  const auto emit_view = [&](const ViewDescription& view) {
    json.begin_object();
    json.member("name", view.name);
    json.member("title", view.title);
    json.end_object();
  };
  if (job) emit_view(ranks_view());
  for (const ViewDescription& view : views()) {
    const bool is_there = std::ranges::any_of(traces, [&](const PageTrace& trace) {
      return std::ranges::find(trace.views, &view, &ViewContent::view) != trace.views.end();
    });
    if (is_there) emit_view(view);
  }
  json.end_array();
  json.key("job");
  if (job) {
    json.begin_object();
    json.key("bytes");
    json.integer(job->section.text_bytes);
    json.end_object();
  } else {
    json.null();
  }
  json.key("first_trace");
  json.integer(first_trace(job, sections));
  json.key("traces");
  json.begin_array();
  std::size_t section = 0;
  for (std::size_t trace = 0; trace < traces.size(); ++trace) {
    json.begin_object();
    json.member("name", names[trace]);
    json.key("rank");
    traces[trace].rank ? json.integer(*traces[trace].rank) : json.null();
    if (job && job->places[trace]) {
      json.key("job_rank");
      json.integer(job->places[trace]->rank);
      json.key("job_start_ns");
      json.integer(job->places[trace]->start_ns);
    }
    json.key("sections");
    json.begin_object();
    const std::size_t first = section;
    for (; section < sections.size() && sections[section].trace == trace; ++section) {
      json.key(sections[section].content->view->name);
      json.integer(sections[section].text_bytes);
    }
    json.end_object();
    json.key("empty");
    json.begin_object();
    for (std::size_t at = first; at < section; ++at) {
      const std::string_view why = why_empty(*sections[at].content);
      if (!why.empty()) json.member(sections[at].content->view->name, why);
    }
    json.end_object();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return text;
}

ReportPage::ReportPage(ReportPageOptions options)
    : contents_(std::make_unique<Contents>(Contents{.options = std::move(options)})) {}
ReportPage::ReportPage(ReportPage&&) noexcept = default;
ReportPage& ReportPage::operator=(ReportPage&&) noexcept = default;
ReportPage::~ReportPage() = default;

Status check_report_page_options(const ReportPageOptions& options) {
  for (const std::string& name : options.views) {
    if (view_named(name) != nullptr || name == ranks_view().name) continue;
    std::vector<std::string_view> names = {ranks_view().name};
    for (const ViewDescription& view : views()) names.push_back(view.name);
    return {StatusCode::invalid_argument,
            "there is no view '" + name + "'" + suggestion(name, names)};
  }
  if (options.steps && std::ranges::find(options.views, "plugin") != options.views.end()) {
    return {StatusCode::invalid_argument,
            "the view 'plugin' is of whole recordings; choose no steps, or other views"};
  }
  if (options.source_root.empty()) return {};
  return io::SourceLines::below(options.source_root).status();
}

Status ReportPage::add(const Trace& trace, std::string name) {
  if (Status right = check_report_page_options(contents_->options); !right.ok()) return right;
  std::optional<Trace> of_steps;
  const std::optional<StepRange>& steps = contents_->options.steps;
  if (steps) {
    Result<Trace> made = trace_of_steps(trace, *steps);
    if (!made.ok()) return made.status();
    of_steps = *std::move(made);
  }
  const pages::ViewedTrace viewed = {trace, of_steps ? *of_steps : trace, steps};
  if (contents_->wants_ranks()) {
    contents_->records.push_back(rank_record(viewed.part, name, {.with_activity = true}));
    for (const Issue& issue : trace.issues()) {
      if (issue.severity == Severity::info) continue;
      contents_->remarks.push_back(std::filesystem::path(name).filename().string() + ": " +
                                   std::string(issue.sentence));
    }
  }
  PageTrace page{std::move(name), trace.identity().rank, {}};
  if (contents_->wants_ranks()) page.start_ns = contents_->records.back().start_ns;
  std::vector<const ViewDescription*> wanted;
  for (const ViewDescription& view : views()) {
    if (contents_->wants(view)) wanted.push_back(&view);
  }
  // A range takes a byte or more, its arguments as much again.
  const std::size_t bytes = contents_->options.bytes;
  const ViewLimits limits = {.ranges = bytes,
                             .range_arguments = 2 * viewed.part.events().size() <= bytes};
  std::vector<std::optional<Result<ViewContent>>> made(wanted.size());
  run_numbered(contents_->threads(), wanted.size(), [&](std::size_t number) {
    made[number].emplace(pages::view_content(*wanted[number], viewed, limits));
  });
  for (std::optional<Result<ViewContent>>& content : made) {
    if (!content->ok()) return content->status();
    page.views.push_back(**std::move(content));
  }
  if (!contents_->options.source_root.empty()) {
    Result<io::SourceLines> lines = io::SourceLines::below(contents_->options.source_root);
    if (!lines.ok()) return lines.status();
    for (ViewContent& view : page.views) add_source(view, *lines);
  }
  contents_->traces.push_back(std::move(page));
  return {};
}

Status ReportPage::add(const MemorySnapshot& snapshot, std::string name) {
  if (Status right = check_report_page_options(contents_->options); !right.ok()) return right;
  if (contents_->options.steps) {
    return {StatusCode::invalid_argument, "a memory snapshot has no steps to choose"};
  }
  Result<std::vector<ViewContent>> views = pages::snapshot_views(snapshot);
  if (!views.ok()) return views.status();
  std::erase_if(*views, [&](const ViewContent& view) { return !contents_->wants(*view.view); });
  if (views->empty()) {
    return {StatusCode::invalid_argument,
            "a memory snapshot has only the views 'memory' and 'flame_graph'"};
  }
  for (ViewContent& view : *views) {
    for (pages::TableContent& table : view.tables) pages::drop_rows(table, ViewLimits().rows);
  }
  contents_->traces.push_back({std::move(name), snapshot.rank(), *std::move(views)});
  return {};
}

void ReportPage::add_remark(std::string remark) { contents_->remarks.push_back(std::move(remark)); }

Result<std::string> ReportPage::html() const {
  const std::vector<PageTrace>& traces = contents_->traces;
  if (traces.empty()) return Status(StatusCode::invalid_argument, "a page needs a trace");
  std::vector<std::string> names = short_names(traces);
  if (contents_->options.steps) {
    for (std::string& name : names) name += ", " + steps_text(*contents_->options.steps);
  }
  std::string title = contents_->options.title;
  if (title.empty()) {
    title = names.front();
    if (names.size() > 1) title += " and " + std::to_string(names.size() - 1) + " more";
  }
  std::optional<PageJob> job = contents_->wants_ranks() ? contents_->job() : std::nullopt;
  if (!job && contents_->asks_for_ranks()) {
    return Status(StatusCode::invalid_argument,
                  "the view 'ranks' needs the traces of two or more ranks of a job");
  }
  std::size_t most_sections = 1;
  for (const PageTrace& trace : traces) most_sections += trace.views.size();
  const std::size_t fixed = pages::fixed_page_bytes(kReportScript, kReportStyle, most_sections);
  Result<std::vector<ViewSection>> sections = contents_->fit(fixed, job);
  if (!sections.ok()) return sections.status();
  const std::string index = contents_->index(names, title, *sections, job);
  pages::PageFile page = {.title = title,
                          .index = index,
                          .sections = {},
                          .script = kReportScript,
                          .style = kReportStyle,
                          .script_hash = pages::kReportScriptHash,
                          .style_hash = pages::kReportStyleHash};
  if (job) page.sections.push_back({"job-ranks", std::move(job->section.base64)});
  for (ViewSection& section : *sections) {
    page.sections.push_back(
        {section_id(section.trace, section.content->view->name), std::move(section.base64)});
  }
  return pages::page_html(page);
}

}  // namespace tbtrace
