#include <algorithm>
#include <string>

#include "documents.h"
#include "options.h"
#include "program.h"

namespace tbtrace::tools {
namespace {

/// Text for a cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string markdown;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*') markdown += '\\';
    markdown += c == '\n' ? ' ' : c;
  }
  return markdown;
}

std::string values(const Option& option) {
  std::string text;
  for (const std::string_view choice : option.choices) {
    text += (text.empty() ? "" : ", ") + ("`" + std::string(choice) + "`");
  }
  return text;
}

std::string table(const OptionGroup& group) {
  std::string text =
      "| " + cell(group.title) + " | | values | default |\n| --- | --- | --- | --- |\n";
  for (const Option& option : group.options) {
    text += "| `";
    if (option.letter != '\0') text += std::string("-") + option.letter + "`, `";
    text += "--" + std::string(option.name);
    if (!option.value.empty()) text += " " + std::string(option.value);
    text += "` | " + cell(option.help) + " | " + values(option) + " | " + cell(option.otherwise) +
            " |\n";
  }
  return text + "\n";
}

std::string verb(const Command& command) {
  std::string text = "## tbtrace " + std::string(command.name) + "\n\n    tbtrace " +
                     std::string(command.name) + " " + std::string(command.usage) + "\n\n" +
                     std::string(command.about) + "\n";
  for (const OptionGroup& group : command.options) text += table(group);
  for (const Example& example : command.examples) {
    text += "    " + std::string(example.command) + "\n\n" + std::string(example.meaning) + ".\n\n";
  }
  return text;
}

}  // namespace

std::string command_reference(std::span<const Command> commands) {
  std::string text =
      "# Commands\n\n"
      "`tbtrace VERB --help` prints the same. This page is generated from the program. If tbtrace "
      "is "
      "installed, `man tbtrace` has it, too; a build without installation has the page as "
      "`man build/tools/documents/tbtrace.1`.\n\n";
  text += std::string(kInputText) + "\n| verb | |\n| --- | --- |\n";
  for (const Command& command : commands) {
    std::string anchor(command.name);
    std::ranges::replace(anchor, ' ', '-');
    text += "| [" + std::string(command.name) + "](#tbtrace-" + anchor + ") | " +
            cell(command.summary) + " |\n";
  }
  text += "\n";
  for (const Command& command : commands) text += verb(command);
  text += "## Options of all verbs\n\n" + table(standard_options());
  text += "## Exit codes\n\n| code | |\n| ---: | --- |\n";
  for (const ExitCode& code : exit_codes()) {
    text += "| " + std::to_string(code.code) + " | " + cell(code.meaning) + " |\n";
  }
  text += "\n## Environment\n\n| variable | |\n| --- | --- |\n";
  for (const EnvironmentVariable& variable : environment_variables()) {
    text += "| `" + std::string(variable.name) + "` | " + cell(variable.meaning) + " |\n";
  }
  return text;
}

}  // namespace tbtrace::tools
