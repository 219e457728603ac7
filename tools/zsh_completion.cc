#include "documents.h"
#include "options.h"
#include "program.h"
#include "shell_word.h"

namespace tbtrace::tools {
namespace {

constexpr std::string_view kStart = R"(#compdef tbtrace
# Completion of tbtrace for zsh.

_tbtrace() {
  if (( CURRENT == 2 )); then
    local -a verbs options
)";

constexpr std::string_view kAfterVerbs = R"(    _describe verb verbs
    _describe -o option options
    return
  fi
  shift words
  (( --CURRENT ))
  case $words[1] in
)";

std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// `name:help`, in the form that _describe reads.
std::string described(std::string_view name, std::string_view help) {
  return " " + shell_word(escaped(name, ":\\") + ":" + escaped(help, "\\"));
}

/// The text after an option's name for _arguments: its help, its value and the possible values.
std::string explanation(const Option& option) {
  std::string text = "[" + escaped(description(option), "[]\\") + "]";
  if (option.value.empty()) return text;
  text += ":" + escaped(option.value, ":\\") + ":";
  if (option.takes_path) return text + "_files";
  std::string choices;
  for (const std::string_view choice : option.choices) {
    choices += (choices.empty() ? "(" : " ") + std::string(choice);
  }
  return text + (choices.empty() ? " " : choices + ")");
}

std::string argument(const std::string& text) { return " \\\n        " + shell_word(text); }

std::string arguments(const Option& option) {
  const std::string name = "--" + std::string(option.name);
  const bool has_value = !option.value.empty();
  const std::string long_form = name + (has_value ? "=" : "") + explanation(option);
  if (option.letter == '\0') return argument(long_form);
  const std::string letter = std::string("-") + option.letter;
  const std::string one_of_both = "(" + letter + " " + name + ")";
  return argument(one_of_both + letter + (has_value ? "+" : "") + explanation(option)) +
         argument(one_of_both + long_form);
}

std::string verb_case(const Command& command) {
  std::string text = "    " + shell_word(command.name) + ")\n      _arguments -s -S";
  for (const OptionGroup& group : all_options(command)) {
    for (const Option& option : group.options) text += arguments(option);
  }
  if (command.inputs != Inputs::none) text += argument("*:input:_files");
  return text + "\n      ;;\n";
}

}  // namespace

std::string zsh_completion(std::span<const Command> commands) {
  std::string text(kStart);
  text += "    verbs=(";
  for (const Command& command : commands) text += described(command.name, command.summary);
  text += ")\n    options=(";
  for (const Option& option : program_options()) {
    text += described("--" + std::string(option.name), option.help);
  }
  text += ")\n" + std::string(kAfterVerbs);
  for (const Command& command : commands) text += verb_case(command);
  return text + "  esac\n}\n\n_tbtrace \"$@\"\n";
}

}  // namespace tbtrace::tools
