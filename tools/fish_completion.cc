#include "documents.h"
#include "options.h"
#include "program.h"

namespace tbtrace::tools {
namespace {

constexpr std::string_view kStart = R"(# Completion of tbtrace for fish.

function __tbtrace_has_no_verb
    test (count (commandline -opc)) -eq 1
end

function __tbtrace_has_verb
    set -l words (commandline -opc)
    test (count $words) -gt 1; and contains -- $words[2] $argv
end

complete -c tbtrace -f
)";

/// Quotes a text in fish's single quotes.
std::string fish_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') word += '\\';
    word += c;
  }
  return word + "'";
}

std::string line(const std::string& condition) {
  return "complete -c tbtrace -n " + fish_word(condition);
}

std::string option_line(const std::string& condition, const Option& option) {
  std::string text = line(condition) + " -l " + fish_word(option.name);
  if (option.letter != '\0') text += " -s " + fish_word(std::string(1, option.letter));
  if (!option.value.empty()) text += option.takes_path ? " -r -F" : " -x";
  if (!option.choices.empty()) {
    std::string choices;
    for (const std::string_view choice : option.choices) {
      choices += (choices.empty() ? "" : " ") + std::string(choice);
    }
    text += " -a " + fish_word(choices);
  }
  return text + " -d " + fish_word(description(option)) + "\n";
}

}  // namespace

std::string fish_completion(std::span<const Command> commands) {
  std::string text(kStart);
  for (const Command& command : commands) {
    text += line("__tbtrace_has_no_verb") + " -a " + fish_word(command.name) + " -d " +
            fish_word(command.summary) + "\n";
  }
  for (const Option& option : program_options())
    text += option_line("__tbtrace_has_no_verb", option);
  for (const Command& command : commands) {
    const std::string has_verb = "__tbtrace_has_verb " + std::string(command.name);
    text += "\n";
    for (const OptionGroup& group : all_options(command)) {
      for (const Option& option : group.options) text += option_line(has_verb, option);
    }
    if (command.inputs != Inputs::none) text += line(has_verb) + " -F\n";
  }
  return text;
}

}  // namespace tbtrace::tools
