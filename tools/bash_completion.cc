#include "documents.h"
#include "options.h"
#include "program.h"
#include "shell_word.h"

namespace tbtrace::tools {
namespace {

constexpr std::string_view kStart = R"(# Completion of tbtrace for bash.

# _tbtrace_offer WORD CANDIDATE...: those that WORD begins, and no names of files.
_tbtrace_offer() {
  local word=$1 candidate
  shift
  compopt +o default 2>/dev/null
  for candidate; do
    if [[ $candidate == "$word"* ]]; then COMPREPLY+=("$candidate"); fi
  done
}

# Where it offers nothing by itself, bash offers names of files.
_tbtrace() {
  local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} index
  COMPREPLY=()
  # --option=value comes as three words.
  if [[ $word == = ]]; then
    word=
  elif [[ $option == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((index = 2; index < COMP_CWORD; ++index)); do
    if [[ ${COMP_WORDS[index]} == -- ]]; then return; fi
  done
)";

std::string names(const Option& option, const std::string& between) {
  std::string text = shell_word("--" + std::string(option.name));
  if (option.letter != '\0') text = shell_word(std::string("-") + option.letter) + between + text;
  return text;
}

/// A verb's case: completes values of its options, then its options, then files.
std::string verb_case(const Command& command) {
  std::string values;
  std::string all;
  for (const OptionGroup& group : all_options(command)) {
    for (const Option& option : group.options) {
      all += " " + names(option, " ");
      if (option.value.empty()) continue;
      values += "        " + names(option, " | ") + ")";
      if (!option.takes_path) {
        values += " _tbtrace_offer \"$word\"";
        for (const std::string_view choice : option.choices) values += " " + shell_word(choice);
        values += ";";
      }
      values += " return ;;\n";
    }
  }
  const bool takes_files = command.inputs != Inputs::none;
  return "    " + shell_word(command.name) + ")\n      case $option in\n" + values +
         "      esac\n" + (takes_files ? "      if [[ $word != -* ]]; then return; fi\n" : "") +
         "      _tbtrace_offer \"$word\"" + all + "\n      ;;\n";
}

}  // namespace

std::string bash_completion(std::span<const Command> commands) {
  std::string text(kStart);
  text += "  if ((COMP_CWORD == 1)); then\n    _tbtrace_offer \"$word\"";
  for (const Command& command : commands) text += " " + shell_word(command.name);
  for (const Option& option : program_options()) text += " " + names(option, " ");
  text += "\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n";
  for (const Command& command : commands) text += verb_case(command);
  return text + "  esac\n}\n\ncomplete -o default -F _tbtrace tbtrace\n";
}

}  // namespace tbtrace::tools
