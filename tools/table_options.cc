#include "table_options.h"

#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>
#include <utility>

#include <tbtrace/compat.h>
#include <tbtrace/tables.h>

namespace tbtrace::tools {
namespace {

constexpr std::int64_t kScreen = 20;  // rows of a text

/// nullopt if the text is not a number above 0.
std::optional<double> positive_number(std::string_view text) {
  constexpr double kLeast = 1e-6;
  constexpr double kMost = 1e12;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && value >= kLeast && value <= kMost ? std::optional(value) : std::nullopt;
}

/// `name`, or a list such as `family,device`. Fails if a part is unknown.
Result<OptionValue> choices_in(const OptionDescription& option, std::string_view text) {
  std::vector<std::string> chosen;
  if (option.choices.empty()) return OptionValue(std::vector{std::string(text)});
  bool all_known = true;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    all_known = all_known && contains(option.choices, part);
    chosen.emplace_back(part);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (all_known) return OptionValue(std::move(chosen));
  return Status(StatusCode::invalid_argument, "--" + std::string(option.spelling) + " takes " +
                                                  listed(option.choices) +
                                                  ", or several of them with commas");
}

Result<OptionValue> value_in(const OptionDescription& option, const OptionParser& parser) {
  const std::string name(option.spelling);
  const std::string& text = parser.text(name);
  const Status wrong(StatusCode::invalid_argument,
                     "--" + name + " takes " + std::string(option.takes));
  switch (option.type) {
    case OptionType::flag:
      return OptionValue(parser.flag(name));
    case OptionType::choice:
    case OptionType::figures:
    case OptionType::folder:
      break;
    case OptionType::choices:
      return choices_in(option, text);
    case OptionType::whole: {
      const auto number = whole_number(text);
      if (!number || *number < 0) return wrong;
      return OptionValue(*number);
    }
    case OptionType::number: {
      const auto number = positive_number(text);
      if (!number) return wrong;
      return OptionValue(*number * option.scale);
    }
    case OptionType::steps: {
      const Result<std::optional<StepRange>> steps = chosen_steps(parser);
      if (!steps.ok()) return steps.status();
      return OptionValue(**steps);
    }
  }
  return OptionValue(text);
}

}  // namespace

Result<TableChoice> TableChoice::of(const OptionParser& parser, bool has_folder) {
  TableChoice choice;
  const Result<OutputFormat> output = output_format(parser, has_folder);
  if (!output.ok()) return output.status();
  choice.output = *output;
  choice.report.format = choice.output.format;
  choice.report.sort_by = parser.text("sort-by");
  choice.report.row_limit = choice.output.format == TableFormat::text ? kScreen : -1;
  if (parser.given("row-limit")) {
    const auto limit = whole_number(parser.text("row-limit"));
    if (!limit || *limit < -1) {
      return Status(StatusCode::invalid_argument, row_limit_range());
    }
    choice.report.row_limit = *limit;
  }
  const Result<RankChoice> rank = RankChoice::of(parser);
  if (!rank.ok()) return rank.status();
  choice.rank = *rank;
  Result<NameFilter> names = chosen_names(parser);
  if (!names.ok()) return names.status();
  choice.accepts_name = *std::move(names);
  return choice;
}

Option sort_option(std::vector<std::string_view> sort_keys) {
  return {
      .name = "sort-by",
      .value = "KEY",
      .help =
          "a column as JSON names it: numbers largest first, texts in the order of the alphabet",
      .choices = std::move(sort_keys),
      .takes_others = true};
}

std::string row_limit_range() {
  return "--row-limit takes a number from 0 to " +
         std::to_string(std::numeric_limits<std::int64_t>::max()) + ", or -1 for all rows";
}

Option row_limit_option() {
  return {.name = "row-limit",
          .value = "N",
          .help = "rows to show, -1 for all (default: 20 as text, all otherwise)"};
}

Option format_option() {
  return {.name = "format",
          .value = "F",
          .help = "text, csv, json or md (default: by the output's name, else text)",
          .choices = {"text", "csv", "json", "md"}};
}

Option command_line_option(const TableDescription& table, const OptionDescription& option) {
  Option made = {.name = option.spelling,
                 .value = option.value,
                 .help = option.help,
                 .otherwise = option.otherwise,
                 .choices = option.choices,
                 .takes_others = option.type == OptionType::choices && !option.choices.empty(),
                 .takes_path = option.type == OptionType::folder,
                 .is_list = option.type == OptionType::choices && option.choices.empty()};
  if (option.type == OptionType::figures) {
    const std::size_t first = option.otherwise.empty() ? 1 : 0;  // the table's own
    for (const Figures figures : figures_of(table.name).subspan(first)) {
      made.choices.push_back(figures_name(figures));
    }
  }
  return made;
}

Option steps_range_option() { return command_line_option({}, steps_option()); }

Result<std::optional<StepRange>> chosen_steps(const OptionParser& parser) {
  if (!parser.given("steps")) return std::optional<StepRange>();
  const std::string& text = parser.text("steps");
  const std::size_t dash = text.find('-');
  const auto first = whole_number(std::string_view(text).substr(0, dash));
  const auto last =
      dash == std::string::npos ? first : whole_number(std::string_view(text).substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first) {
    return Status(StatusCode::invalid_argument,
                  "--steps takes a number or two of them, such as 3 or 3-5");
  }
  return std::optional(StepRange{*first, *last});
}

Result<OptionValues> given_options(const TableDescription& table, const OptionParser& parser) {
  OptionValues values;
  values.of_command_line = true;
  for (const OptionDescription& option : table.options) {
    const std::string spelling(option.spelling);
    if (!parser.has(spelling) || !parser.given(spelling)) continue;
    Result<OptionValue> value = value_in(option, parser);
    if (!value.ok()) return value.status();
    values.set(option.name, *std::move(value));
  }
  const Result<OptionValues> complete = complete_options(table, values);
  if (!complete.ok()) return complete.status();
  return values;
}

}  // namespace tbtrace::tools
