#include "partials/merge.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "partials/operator_tables.h"

namespace tbtrace::partials {
namespace {

Status check_options(const PartialOptions& one, const PartialOptions& other) {
  std::string what;
  if (one.group_by_stack_n != other.group_by_stack_n) {
    what = "group operators by stacks of " + std::to_string(one.group_by_stack_n) + " and of " +
           std::to_string(other.group_by_stack_n) + " frames";
  } else if (one.stack_source != other.stack_source) {
    what = "take stacks from different sources";
  } else if (!(one.parts == other.parts)) {
    what = "have different tables";
  } else {
    return {};
  }
  return {StatusCode::invalid_argument,
          "the partials " + what + "; make them with the same options"};
}

Status check_sources(const std::vector<PartialSource>& sources,
                     const std::vector<PartialSource>& others) {
  for (const PartialSource& other : others) {
    const auto same = std::ranges::lower_bound(sources, other.digest, {}, &PartialSource::digest);
    if (same == sources.end() || same->digest != other.digest) continue;
    const bool is_same_name = same->name == other.name;
    return {StatusCode::invalid_argument,
            "the trace " + other.name + " is in both" +
                (is_same_name ? "" : ", once as " + same->name) +
                "; merge each trace once, its time would count twice"};
  }
  return {};
}

}  // namespace

Status merge(Content& content, const Content& other) {
  if (Status same = check_options(content.options, other.options); !same.ok()) return same;
  if (Status new_ones = check_sources(content.sources, other.sources); !new_ones.ok()) {
    return new_ones;
  }
  std::vector<std::uint32_t> text_of(other.texts.size());
  for (std::uint32_t text = 0; text < text_of.size(); ++text) {
    text_of[text] = content.texts.intern(other.texts[text]);
  }
  merge_operators(content, other, text_of);
  for (std::size_t table = 0; table < kTables; ++table) {
    if (is_operator_table(static_cast<TableId>(table))) continue;
    content.tables[table].add(other.tables[table], text_of);
  }
  content.stacks.add(other.stacks, text_of);
  for (std::size_t source = 0; source < other.sources.size(); ++source) {
    const auto place = std::ranges::lower_bound(content.sources, other.sources[source].digest, {},
                                                &PartialSource::digest);
    content.of_sources.insert(content.of_sources.begin() + (place - content.sources.begin()),
                              other.of_sources[source]);
    content.sources.insert(place, other.sources[source]);
  }
  return {};
}

}  // namespace tbtrace::partials
