// The page of a comparison as one file.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

#include <tbtrace/compare_page.h>
#include <tbtrace/version.h>

#include "pages/compare/compare_css.h"
#include "pages/compare/compare_js.h"
#include "pages/compare/hashes.h"
#include "pages/page_file.h"
#include "wire/json_emitter.h"

namespace tbtrace {
namespace {

constexpr std::size_t kLeastComparedRows = 50;
constexpr std::size_t kLeastComparedFrames = 300;

/// `a.json.gz`, or `a.json.gz and 2 more`.
std::string side_title(const std::vector<std::string>& runs) {
  if (runs.empty()) return {};
  std::string name = std::filesystem::path(runs.front()).filename().string();
  if (name.empty()) name = runs.front();
  if (runs.size() > 1) name += " and " + std::to_string(runs.size() - 1) + " more";
  return name;
}

/// Half of what the document has of what it has more of. False at the least.
bool reduce(ComparisonLimits& limits) {
  if (limits.frames <= kLeastComparedFrames && limits.rows <= kLeastComparedRows) return false;
  const bool has_more_frames = limits.frames / 25 >= limits.rows;
  if (limits.rows <= kLeastComparedRows ||
      (has_more_frames && limits.frames > kLeastComparedFrames)) {
    limits.frames = std::max(kLeastComparedFrames, limits.frames / 2);
  } else {
    limits.rows = std::max(kLeastComparedRows, limits.rows / 2);
  }
  return true;
}

}  // namespace

Result<std::string> compare_page(const Diff& diff, std::span<const RunStacks> base,
                                 std::span<const RunStacks> changed,
                                 const ComparePageOptions& options) {
  const std::string title = !options.title.empty() ? options.title
                                                   : side_title(diff.base_names) + " \u2192 " +
                                                         side_title(diff.new_names);
  std::string index;
  wire::JsonEmitter json(index);
  json.begin_object();
  json.member("schema", "tbtrace.compare/1");
  json.member("version", version());
  json.member("title", title);
  json.end_object();
  pages::PageFile page = {.title = title,
                          .index = index,
                          .sections = {},
                          .script = kCompareScript,
                          .style = kCompareStyle,
                          .script_hash = pages::kCompareScriptHash,
                          .style_hash = pages::kCompareStyleHash};
  const std::size_t fixed = pages::fixed_page_bytes(page.script, page.style, 1) + index.size();
  ComparisonLimits limits;
  while (true) {
    const Result<std::string> text = comparison_document(diff, base, changed, limits);
    if (!text.ok()) return text.status();
    Result<std::string> packed = pages::packed_section(*text);
    if (!packed.ok()) return packed.status();
    if (fixed + packed->size() <= options.bytes) {
      page.sections.push_back({"comparison", *std::move(packed)});
      return pages::page_html(page);
    }
    if (!reduce(limits)) {
      return Status(StatusCode::invalid_argument,
                    "the page has at least " +
                        std::to_string((fixed + packed->size() + 999) / 1000) + " KB; allow more");
    }
  }
}

}  // namespace tbtrace
