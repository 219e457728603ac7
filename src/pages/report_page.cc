// The page: views of one or several traces, with the scripts that draw them, in one file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tbtrace/version.h>
#include <tbtrace/views.h>

#include "base/threads.h"
#include "pages/hashes.h"
#include "pages/page_file.h"
#include "pages/report_css.h"
#include "pages/report_js.h"
#include "pages/source_lines.h"
#include "pages/table_text.h"
#include "pages/view_content.h"
#include "report/table_columns.h"
#include "wire/json_emitter.h"

namespace tbtrace {
namespace {

using pages::ViewContent;

struct PageTrace {
  std::string name;
  std::optional<std::int64_t> rank;
  std::vector<ViewContent> views;
};

/// A view as it stands in the page.
struct Section {
  const ViewContent* content;
  ViewLimits limits;
  std::size_t text_bytes = 0;
  std::string base64 = {};
};

/// Adds the text of each line to the tables of lines.
void add_source(ViewContent& content, pages::SourceLines& lines) {
  if (content.view->name != "lines") return;
  for (pages::TableContent& content_table : content.tables) {
    Table& table = content_table.report.table;
    const auto file = report::column_named(table, "file");
    const auto line = report::column_named(table, "line");
    if (!file || !line) continue;
    table.columns.emplace_back("source");
    content_table.columns.push_back({"source", "text or null", "the text of the line"});
    content_table.report.shown.emplace_back("source");
    for (std::vector<Cell>& row : table.rows) {
      const auto* const name = std::get_if<std::string>(&row[*file]);
      const auto* const number = std::get_if<std::int64_t>(&row[*line]);
      std::optional<std::string> text;
      if (name != nullptr && number != nullptr) text = lines.line(*name, *number);
      row.push_back(text ? Cell(*std::move(text)) : Cell());
    }
  }
}

/// The least that is kept of a view.
constexpr std::size_t kLeastRows = 50;
constexpr std::size_t kLeastFrames = 300;
constexpr std::size_t kLeastRanges = 300;
constexpr std::int64_t kCoarsestUnitNs = 10'000;

std::size_t most_rows(const ViewContent& content) {
  std::size_t most = 0;
  for (const pages::TableContent& table : content.tables) {
    most = std::max(most, table.report.table.rows.size());
  }
  return most;
}

std::size_t most_frames(const ViewContent& content) {
  std::size_t most = 0;
  for (const pages::StacksContent& stacks : content.stacks) {
    most = std::max(most, stacks.tree.size());
  }
  return most;
}

Status write_section(Section& section) {
  const std::string text = pages::view_text(*section.content, section.limits);
  Result<std::string> packed = pages::packed_section(text);
  if (!packed.ok()) return packed.status();
  section.text_bytes = text.size();
  section.base64 = *std::move(packed);
  return {};
}

/// Makes a timeline smaller: first without arguments, then in coarser units, then with half of its
/// ranges. False if it has no more than the least.
bool reduce_timeline(const analyses::Timeline& timeline, ViewLimits& limits) {
  const std::size_t ranges = std::min(limits.ranges, timeline.size());
  if (limits.range_arguments && !timeline.arguments.empty()) {
    limits.range_arguments = false;
  } else if (limits.time_unit_ns < kCoarsestUnitNs) {
    limits.time_unit_ns *= limits.time_unit_ns == 1 ? 100 : 10;
  } else if (ranges > kLeastRanges) {
    limits.ranges = std::max(kLeastRanges, ranges / 2);
  } else {
    return false;
  }
  return true;
}

/// Makes what the section has smaller, tables and stacks by half. False if it has no more than the
/// least.
bool reduce(Section& section) {
  ViewLimits& limits = section.limits;
  if (section.content->timeline) return reduce_timeline(*section.content->timeline, limits);
  const std::size_t rows = std::min(limits.rows, most_rows(*section.content));
  const std::size_t frames = std::min(limits.frames, most_frames(*section.content));
  if (rows <= kLeastRows && frames <= kLeastFrames) return false;
  limits.rows = std::max(kLeastRows, rows / 2);
  limits.frames = std::max(kLeastFrames, frames / 2);
  return true;
}

/// Writes the sections, and makes the largest ones smaller until the page, with `fixed` bytes
/// beside them, has at most `limit`.
Status fit(std::vector<Section>& sections, std::size_t limit, std::size_t fixed,
           std::size_t threads) {
  const std::size_t bytes = limit > fixed ? limit - fixed : 0;
  std::vector<Status> all_written(sections.size());
  run_numbered(threads, sections.size(),
               [&](std::size_t number) { all_written[number] = write_section(sections[number]); });
  std::size_t sum = 0;
  for (std::size_t number = 0; number < sections.size(); ++number) {
    if (!all_written[number].ok()) return all_written[number];
    sum += sections[number].base64.size();
  }
  std::priority_queue<std::pair<std::size_t, std::size_t>> by_size;  // size, number
  for (std::size_t number = 0; number < sections.size(); ++number) {
    by_size.emplace(sections[number].base64.size(), number);
  }
  while (sum > bytes && !by_size.empty()) {
    const std::size_t number = by_size.top().second;
    Section& largest = sections[number];
    by_size.pop();
    if (!reduce(largest)) continue;
    sum -= largest.base64.size();
    if (Status now = write_section(largest); !now.ok()) return now;
    sum += largest.base64.size();
    by_size.emplace(largest.base64.size(), number);
  }
  if (sum <= bytes) return {};
  return {StatusCode::invalid_argument, "the page has at least " +
                                            std::to_string((sum + fixed + 999) / 1000) +
                                            " KB; allow more, or take fewer traces or views"};
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

std::string section_id(std::size_t trace, std::string_view view) {
  return "view-" + std::to_string(trace) + "-" + std::string(view);
}

}  // namespace

struct ReportPage::Contents {
  ReportPageOptions options;
  std::vector<PageTrace> traces;

  bool wants(const ViewDescription& view) const {
    if (options.views.empty()) return view.in_report;
    return std::ranges::find(options.views, view.name) != options.views.end();
  }

  std::size_t threads() const { return static_cast<std::size_t>(thread_count(options.threads)); }

  std::string index(const std::vector<std::string>& names, const std::string& title,
                    const std::vector<Section>& sections) const;
};

/// The emitter escapes `<`, so no name ends the element that this stands in.
std::string ReportPage::Contents::index(const std::vector<std::string>& names,
                                        const std::string& title,
                                        const std::vector<Section>& sections) const {
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_object();
  json.member("schema", "tbtrace.report/1");
  json.member("version", version());
  json.member("title", title);
  json.key("views");
  json.begin_array();
  for (const ViewDescription& view : views()) {
    if (!wants(view)) continue;
    json.begin_object();
    json.member("name", view.name);
    json.member("title", view.title);
    json.end_object();
  }
  json.end_array();
  json.key("traces");
  json.begin_array();
  std::size_t section = 0;
  for (std::size_t trace = 0; trace < traces.size(); ++trace) {
    json.begin_object();
    json.member("name", names[trace]);
    json.key("rank");
    traces[trace].rank ? json.integer(*traces[trace].rank) : json.null();
    json.key("sections");
    json.begin_object();
    for (const ViewContent& content : traces[trace].views) {
      json.key(content.view->name);
      json.integer(sections[section++].text_bytes);
    }
    json.end_object();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return text;
}

ReportPage::ReportPage(ReportPageOptions options)
    : contents_(std::make_unique<Contents>(Contents{std::move(options), {}})) {}
ReportPage::ReportPage(ReportPage&&) noexcept = default;
ReportPage& ReportPage::operator=(ReportPage&&) noexcept = default;
ReportPage::~ReportPage() = default;

Status check_report_page_options(const ReportPageOptions& options) {
  for (const std::string& name : options.views) {
    if (view_named(name) != nullptr) continue;
    std::vector<std::string_view> names;
    for (const ViewDescription& view : views()) names.push_back(view.name);
    return {StatusCode::invalid_argument,
            "there is no view '" + name + "'" + suggestion(name, names)};
  }
  if (options.source_root.empty()) return {};
  return pages::SourceLines::below(options.source_root).status();
}

Status ReportPage::add(const Trace& trace, std::string name) {
  if (Status right = check_report_page_options(contents_->options); !right.ok()) return right;
  PageTrace page{std::move(name), trace.identity().rank, {}};
  std::vector<const ViewDescription*> wanted;
  for (const ViewDescription& view : views()) {
    if (contents_->wants(view)) wanted.push_back(&view);
  }
  // A range takes a byte or more, its arguments as much again.
  const std::size_t bytes = contents_->options.bytes;
  const ViewLimits limits = {.ranges = bytes,
                             .range_arguments = 2 * trace.events().size() <= bytes};
  std::vector<std::optional<Result<ViewContent>>> made(wanted.size());
  run_numbered(contents_->threads(), wanted.size(), [&](std::size_t number) {
    made[number].emplace(pages::view_content(*wanted[number], trace, limits));
  });
  for (std::optional<Result<ViewContent>>& content : made) {
    if (!content->ok()) return content->status();
    page.views.push_back(**std::move(content));
    for (pages::TableContent& table : page.views.back().tables) {
      pages::drop_rows(table, ViewLimits().rows);
    }
  }
  if (!contents_->options.source_root.empty()) {
    Result<pages::SourceLines> lines = pages::SourceLines::below(contents_->options.source_root);
    if (!lines.ok()) return lines.status();
    for (ViewContent& view : page.views) add_source(view, *lines);
  }
  contents_->traces.push_back(std::move(page));
  return {};
}

Result<std::string> ReportPage::html() const {
  const std::vector<PageTrace>& traces = contents_->traces;
  if (traces.empty()) return Status(StatusCode::invalid_argument, "a page needs a trace");
  const std::vector<std::string> names = short_names(traces);
  std::string title = contents_->options.title;
  if (title.empty()) {
    title = names.front();
    if (names.size() > 1) title += " and " + std::to_string(names.size() - 1) + " more";
  }
  std::vector<Section> sections;
  for (const PageTrace& trace : traces) {
    for (const ViewContent& content : trace.views)
      sections.push_back({&content, {.range_arguments = true}});
  }
  const std::size_t fixed =
      pages::fixed_page_bytes(writers::kReportScript, writers::kReportStyle, sections.size());
  Status fits = fit(sections, contents_->options.bytes, fixed, contents_->threads());
  if (!fits.ok()) return fits;

  const std::string index = contents_->index(names, title, sections);
  pages::PageFile page = {.title = title,
                          .index = index,
                          .sections = {},
                          .script = writers::kReportScript,
                          .style = writers::kReportStyle,
                          .script_hash = pages::kScriptHash,
                          .style_hash = pages::kStyleHash};
  std::size_t section = 0;
  for (std::size_t trace = 0; trace < traces.size(); ++trace) {
    for (const ViewContent& content : traces[trace].views) {
      page.sections.push_back(
          {section_id(trace, content.view->name), std::move(sections[section++].base64)});
    }
  }
  return pages::page_html(page);
}

}  // namespace tbtrace
