#include <algorithm>

#include <tbtrace/table_description.h>

namespace tbtrace {

std::string_view ColumnDescription::unit() const {
  for (const std::string_view unit : {"ns", "us", "bytes", "percent", "share", "per_s"}) {
    if (name.ends_with(unit) && name[name.size() - unit.size() - 1] == '_') return unit;
  }
  return {};
}

const OptionValue* OptionValues::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

std::vector<std::string> TableDescription::column_names(std::string_view with_options) const {
  const auto more = std::ranges::find(more_columns, with_options, &ColumnsWithOptions::options);
  std::vector<std::string> names;
  for (const ColumnDescription& column : more == more_columns.end() ? columns : more->columns) {
    names.emplace_back(column.name);
  }
  return names;
}

const OptionDescription* TableDescription::option(std::string_view option_name) const {
  const auto found = std::ranges::find(options, option_name, &OptionDescription::name);
  return found == options.end() ? nullptr : &*found;
}

OptionDescription steps_option() {
  return {.name = "steps",
          .spelling = "steps",
          .type = OptionType::steps,
          .help = "only steps A-B, or the step A",
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
