// What a table is asked for.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include <tbtrace/compat.h>
#include <tbtrace/tables.h>

namespace tbtrace {
namespace {

using Names = std::vector<std::string_view>;

Status wrong(const std::string& sentence) { return {StatusCode::invalid_argument, sentence}; }

/// `'name', 'launch'`.
std::string quoted(const Names& names) {
  std::string text;
  for (const std::string_view name : names) {
    text += (text.empty() ? "'" : ", '") + std::string(name) + "'";
  }
  return text;
}

bool has(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

Names choices_of(const TableDescription& table, const OptionDescription& option) {
  Names names = option.choices;
  if (option.type == OptionType::figures) {
    for (const Figures figures : figures_of(table.name)) names.push_back(figures_name(figures));
  }
  return names;
}

Status check_choice(const OptionDescription& option, const Names& choices,
                    const std::string& chosen) {
  if (has(choices, chosen)) return {};
  return wrong(std::string(option.name) + " takes " + quoted(choices) + ", not '" + chosen + "'");
}

Status check_choices(const OptionDescription& option, const Names& choices,
                     const std::vector<std::string>& chosen) {
  for (const std::string& name : chosen) {
    if (choices.empty()) break;  // any text
    if (Status known = check_choice(option, choices, name); !known.ok()) return known;
  }
  return chosen.empty() ? wrong(std::string(option.name) + " is empty") : Status();
}

/// Takes the value in the form that makers know, or fails.
Status take(const TableDescription& table, const OptionDescription& option, OptionValue value,
            OptionValues& values) {
  const std::string name(option.name);
  Status right = wrong(name + " has a value of a wrong type");
  switch (option.type) {
    case OptionType::flag:
      if (std::holds_alternative<bool>(value)) right = {};
      break;
    case OptionType::choice:
    case OptionType::figures:
      if (const auto* const text = std::get_if<std::string>(&value)) {
        right = check_choice(option, choices_of(table, option), *text);
      }
      break;
    case OptionType::choices:
      if (auto* const text = std::get_if<std::string>(&value)) {
        value = std::vector<std::string>{std::move(*text)};
      }
      if (const auto* const texts = std::get_if<std::vector<std::string>>(&value)) {
        right = check_choices(option, choices_of(table, option), *texts);
      }
      break;
    case OptionType::whole:
      if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
        right = *whole >= 0 ? Status()
                            : wrong(name + " takes a number from 0" +
                                    (option.otherwise.empty() ? ", or None" : ""));
      }
      break;
    case OptionType::number:
      if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
        value = static_cast<double>(*whole);
      }
      if (const auto* const number = std::get_if<double>(&value)) {
        right = *number > 0 && std::isfinite(*number)
                    ? Status()
                    : wrong(name + " takes a number above 0, or None");
      }
      break;
    case OptionType::folder:
      if (const auto* const path = std::get_if<std::string>(&value)) {
        right = path->empty() ? wrong(name + " takes the path of a directory") : Status();
      }
      break;
    case OptionType::steps:
      if (const auto* const steps = std::get_if<StepRange>(&value)) {
        right = steps->first >= 0 && steps->last >= steps->first
                    ? Status()
                    : wrong("steps takes a number or two of them, such as 3 or (3, 5)");
      }
      break;
  }
  if (right.ok()) values.set(option.name, std::move(value));
  return right;
}

void take_default(const OptionDescription& option, OptionValues& values) {
  if (option.type == OptionType::flag) values.set(option.name, false);
  if (option.otherwise.empty()) return;
  if (option.type == OptionType::choices) {
    values.set(option.name, std::vector<std::string>{std::string(option.otherwise)});
  } else if (option.type == OptionType::whole) {
    std::int64_t number = 0;
    std::from_chars(option.otherwise.data(), option.otherwise.data() + option.otherwise.size(),
                    number);
    values.set(option.name, number);
  } else {
    values.set(option.name, std::string(option.otherwise));
  }
}

/// `--compat plugin`, `figures plugin`.
std::string spelled(const TableDescription& table, std::string_view name, std::string_view value,
                    bool of_command_line) {
  const OptionDescription& option = *table.option(name);
  std::string text = of_command_line ? "--" + std::string(option.spelling) : std::string(name);
  if (!value.empty()) text += " " + std::string(value);
  return text;
}

Status check_excluded(const TableDescription& table, const OptionValues& given) {
  const auto is_given = [&](std::string_view name, std::string_view value) {
    const OptionValue* const found = given.find(name);
    if (found == nullptr || *found == OptionValue(false)) return false;
    return value.empty() || *found == OptionValue(std::string(value));
  };
  for (const ExcludedOptions& pair : table.excluded) {
    if (!is_given(pair.one, pair.value) || !is_given(pair.other, pair.other_value)) continue;
    return wrong(spelled(table, pair.one, pair.value, given.of_command_line) + " and " +
                 spelled(table, pair.other, pair.other_value, given.of_command_line) +
                 " exclude each other");
  }
  return {};
}

}  // namespace

Result<OptionValues> complete_options(const TableDescription& table, const OptionValues& given) {
  OptionValues values;
  values.of_command_line = given.of_command_line;
  values.most_rows = given.most_rows;
  for (const OptionDescription& option : table.options) take_default(option, values);
  for (const auto& [name, value] : given.all()) {
    const OptionDescription* const option = table.option(name);
    if (option == nullptr) {
      return wrong(std::string(table.name) + "() does not take the option '" + name + "'");
    }
    if (Status right = take(table, *option, value, values); !right.ok()) return right;
  }
  if (Status together = check_excluded(table, given); !together.ok()) return together;
  return values;
}

Figures chosen_figures(const TableDescription& table, const OptionValues& options) {
  const std::string name = options.text("figures");
  for (const Figures figures : figures_of(table.name)) {
    if (figures_name(figures) == name) return figures;
  }
  return Figures::exact;
}

}  // namespace tbtrace
