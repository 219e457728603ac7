#include "pages/command_text.h"

#include <cstdint>
#include <string>
#include <variant>

namespace tbtrace {

void pages::add_steps(std::vector<CommandOption>& options, const std::optional<StepRange>& steps) {
  if (!steps) return;
  const std::string first = std::to_string(steps->first);
  const bool is_one = steps->first == steps->last;
  options.push_back({"steps", is_one ? first : first + "-" + std::to_string(steps->last)});
}

std::string pages::command_text(std::string_view verb, const std::vector<CommandOption>& options) {
  std::string text = "tbtrace " + std::string(verb);
  for (const CommandOption& option : options) {
    text.append(" --").append(option.spelling);
    if (!option.value.empty()) text += " " + option.value;
  }
  return text;
}

std::string pages::command_text(const TableDescription& table, const OptionValues& options,
                                std::string_view sort_by) {
  std::vector<CommandOption> given;
  for (const auto& [name, value] : options.all()) {
    const OptionDescription& option = *table.option(name);
    if (const auto* const text = std::get_if<std::string>(&value)) {
      given.push_back({option.spelling, *text});
    } else if (const auto* const flag = std::get_if<bool>(&value); flag != nullptr) {
      if (*flag) given.push_back({option.spelling});
    } else if (const auto* const number = std::get_if<std::int64_t>(&value)) {
      given.push_back({option.spelling, std::to_string(*number)});
    } else if (const auto* const texts = std::get_if<std::vector<std::string>>(&value)) {
      std::string list;
      for (const std::string& each : *texts) list += (list.empty() ? "" : ",") + each;
      given.push_back({option.spelling, list});
    } else if (const auto* const steps = std::get_if<StepRange>(&value); steps != nullptr) {
      add_steps(given, *steps);
    }
  }
  if (!sort_by.empty()) given.push_back({"sort-by", std::string(sort_by)});
  return command_text(table.command(), given);
}

}  // namespace tbtrace
