#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <stdexcept>

#include <tbtrace/tables.h>

namespace tbtrace {
namespace {

/// By ValueType.
constexpr std::array<std::string_view, 7> kTypeNames = {
    "boolean", "integer", "number", "text", "list of texts", "list", "any"};
constexpr std::string_view kOrNull = " or null";

ColumnDescription column_in(std::string_view name, std::string_view type,
                            std::string_view meaning) {
  const bool has_nulls = type.ends_with(kOrNull);
  if (has_nulls) type.remove_suffix(kOrNull.size());
  const auto* const found = std::ranges::find(kTypeNames, type);
  if (found == kTypeNames.end()) {
    throw std::invalid_argument("columns have no type '" + std::string(type) + "'");
  }
  return {name, static_cast<ValueType>(found - kTypeNames.begin()), has_nulls, meaning};
}

}  // namespace

std::string ColumnDescription::type_text() const {
  return std::string(kTypeNames[static_cast<std::size_t>(type)]) +
         std::string(has_nulls ? kOrNull : "");
}

std::string_view ColumnDescription::unit() const {
  if (name.ends_with("utilization")) return "share";
  for (const std::string_view unit : {"ns", "us", "bytes", "percent", "share", "per_s"}) {
    const std::size_t before = name.size() - std::min(name.size(), unit.size() + 1);
    if (name.ends_with(unit) && name.substr(before).starts_with('_')) return unit;
  }
  return {};
}

std::vector<ColumnDescription> columns_in(std::string_view text) {
  constexpr std::string_view kBetween = " | ";
  const auto take = [](std::string_view& rest, std::string_view end) {
    const std::string_view part = rest.substr(0, rest.find(end));
    rest.remove_prefix(std::min(rest.size(), part.size() + end.size()));
    return part;
  };
  std::vector<ColumnDescription> columns;
  while (!text.empty()) {
    std::string_view line = take(text, "\n");
    if (line.empty()) continue;
    const std::string_view name = take(line, kBetween);
    const std::string_view type = take(line, kBetween);
    columns.push_back(column_in(name, type, line));
  }
  return columns;
}

const OptionValue* OptionValues::find(std::string_view name) const& {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

std::vector<std::string> TableDescription::column_names(std::string_view with) const {
  const auto more = std::ranges::find_if(more_columns, [&](const ColumnsWithOptions& columns_with) {
    return !with.empty() && columns_with.options.find(with) != std::string_view::npos;
  });
  std::vector<std::string> names;
  for (const ColumnDescription& column : more == more_columns.end() ? columns : more->columns) {
    names.emplace_back(column.name);
  }
  return names;
}

const ColumnDescription* TableDescription::column(std::string_view column_name) const& {
  const auto in = [&](const std::vector<ColumnDescription>& some) {
    const auto found = std::ranges::find(some, column_name, &ColumnDescription::name);
    return found == some.end() ? nullptr : &*found;
  };
  if (const ColumnDescription* const found = in(columns)) return found;
  for (const ColumnsWithOptions& more : more_columns) {
    if (more.of == "totals") continue;
    if (const ColumnDescription* const found = in(more.columns)) return found;
  }
  return nullptr;
}

const OptionDescription* TableDescription::option(std::string_view option_name) const& {
  const auto found = std::ranges::find(options, option_name, &OptionDescription::name);
  return found == options.end() ? nullptr : &*found;
}

OptionDescription steps_option() {
  return {.name = "steps",
          .spelling = "steps",
          .type = OptionType::steps,
          .help = "only steps A-B, or the step A",
          .help_in_code = "only this step, or these from the first to the last one",
          .value = "RANGE"};
}

OptionDescription figures_option(std::string_view value, std::string_view help,
                                 std::string_view otherwise) {
  return {.name = "figures",
          .spelling = "compat",
          .type = OptionType::figures,
          .help = help,
          .value = value,
          .otherwise = otherwise};
}

}  // namespace tbtrace
