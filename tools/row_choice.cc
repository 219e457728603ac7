#include "row_choice.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "name_filter.h"

namespace tbtrace::tools {
namespace {

constexpr std::array kKinds = std::to_array<std::pair<std::string_view, OperatorKind>>({
    {"operators", OperatorKind::op},
    {"kernels", OperatorKind::kernel},
    {"annotations", OperatorKind::annotation},
    {"frames", OperatorKind::frame},
    {"other", OperatorKind::other},
});

}  // namespace

std::vector<Option> row_choice_options() {
  Option kinds = {.name = "kind",
                  .value = "KIND",
                  .help =
                      "only rows of these kinds, separated by commas: operators; kernels, with "
                      "memcpys, memsets and synchronization; annotations, with steps; frames "
                      "(Python functions and modules); other, such as CUDA calls",
                  .is_list = true};
  for (const auto& [name, kind] : kKinds) kinds.choices.push_back(name);
  return {{.name = "name",
           .value = "REGEX",
           .help = "only rows whose name matches somewhere (RE2 syntax; (?i) ignores case); totals "
                   "stay those of all rows"},
          std::move(kinds)};
}

Status take_row_choice(const OptionParser& parser, TableOptions& table) {
  if (parser.given("name")) {
    auto filter = name_filter(parser.text("name"));
    if (!filter.ok()) {
      return {StatusCode::invalid_argument,
              "--name is not a valid regular expression: " + filter.status().message()};
    }
    table.accepts_name = *std::move(filter);
  }
  for (const std::string_view chosen : list_of(parser.text("kind"))) {
    for (const auto& [name, kind] : kKinds) {
      if (name == chosen) table.kinds.push_back(kind);
    }
  }
  return {};
}

void say_row_counts(const TableOptions& table, const RowCounts& counts, std::string_view subject,
                    Console& console) {
  if (table.kinds.empty() && !table.accepts_name) return;
  console.message(subject, std::to_string(counts.selected) + " of " + std::to_string(counts.all) +
                               " rows match; totals are those of all rows");
}

}  // namespace tbtrace::tools
