#include <algorithm>
#include <cctype>
#include <string>

#include "documents.h"
#include "options.h"
#include "program.h"

namespace tbtrace::tools {
namespace {

/// Text that roff prints literally: no requests, no escapes, no typographic dashes and quotes.
std::string literal(std::string_view text) {
  std::string roff;
  bool at_start = true;
  for (const char c : text) {
    switch (c) {
      case '\\':
        roff += "\\e";
        break;
      case '-':
        roff += "\\-";
        break;
      case '\'':
        roff += "\\(aq";
        break;
      case '`':
        roff += "\\(ga";
        break;
      case '^':
        roff += "\\(ha";
        break;
      case '~':
        roff += "\\(ti";
        break;
      case '"':
        roff += "\\(dq";
        break;
      case '.':
        roff += at_start ? "\\&." : ".";
        break;
      default:
        roff += c;
    }
    at_start = c == '\n';
  }
  return roff;
}

std::string bold(std::string_view text) { return "\\fB" + literal(text) + "\\fR"; }

std::string italic(std::string_view text) { return "\\fI" + literal(text) + "\\fR"; }

std::string section(std::string title) {
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return ".SH \"" + literal(title) + "\"\n";
}

std::string item(const std::string& tag, const std::string& text) {
  return ".TP\n" + tag + "\n" + text + "\n";
}

/// A line with the option's choices, if its help does not name them all.
std::string choices_line(const Option& option) {
  std::string text;
  for (const std::string_view choice : unnamed_choices(option)) {
    text += (text.empty() ? "\n.br\nValues: " : ", ") + bold(choice);
  }
  return text;
}

std::string option_items(const std::vector<Option>& options) {
  std::string text;
  for (const Option& option : options) {
    std::string tag = bold("--" + std::string(option.name));
    if (option.letter != '\0') tag = bold(std::string("-") + option.letter) + ", " + tag;
    if (!option.value.empty()) tag += " " + italic(option.value);
    text += item(tag, literal(description(option)) + choices_line(option));
  }
  return text;
}

std::string usage(const Command& command) {
  return bold("tbtrace " + std::string(command.name)) + " " + literal(command.usage) + "\n";
}

std::string synopsis(std::span<const Command> commands) {
  std::string text = section("Synopsis");
  for (const Command& command : commands) {
    if (&command != &commands.front()) text += ".br\n";
    text += usage(command);
  }
  for (const Option& option : program_options()) {
    text += ".br\n" + bold("tbtrace --" + std::string(option.name)) + "\n";
  }
  return text;
}

std::string description_of_all(std::span<const Command> commands) {
  std::string text = section("Description") + literal(kInputText) + ".PP\nThe verbs are:\n";
  for (const Command& command : commands) {
    text += item(bold(command.name), literal(command.summary));
  }
  return text + ".PP\nInstead of a verb:\n" + option_items(program_options());
}

std::string verb_section(const Command& command) {
  std::string text = section("tbtrace " + std::string(command.name));
  text += usage(command) + ".PP\n" + literal(command.about);
  for (const OptionGroup& group : command.options) {
    text += ".SS \"" + literal(group.title) + "\"\n" + option_items(group.options);
  }
  text += ".SS Examples\n";
  for (const Example& example : command.examples) {
    text += item(bold(example.command), literal(example.meaning));
  }
  return text;
}

}  // namespace

std::string man_page(std::span<const Command> commands, std::string_view version) {
  std::string text = ".TH TBTRACE 1 \"\" \"tbtrace " + literal(version) +
                     "\" \"User Commands\"\n"
                     ".nh\n.ad l\n";  // do not hyphenate commands and names
  text += section("Name") + "tbtrace \\- " + literal(kProgramSummary) + "\n";
  text += synopsis(commands) + description_of_all(commands);
  for (const Command& command : commands) text += verb_section(command);
  const OptionGroup standard = standard_options();
  text += section("Options of all verbs") + ".SS \"" + literal(standard.title) + "\"\n" +
          option_items(standard.options);
  text += section("Exit status");
  for (const ExitCode& code : exit_codes()) {
    text += item(bold(std::to_string(code.code)), literal(code.meaning));
  }
  text += section("Environment");
  for (const EnvironmentVariable& variable : environment_variables()) {
    text += item(bold(variable.name), literal(variable.meaning));
  }
  text += section("See also") + ".BR gzip (1)\n";
  for (const std::string_view page : {"https://docs.pytorch.org/docs/stable/profiler.html",
                                      "https://www.tensorflow.org/tensorboard"}) {
    text += ".PP\n" + literal(page) + "\n";
  }
  return text;
}

}  // namespace tbtrace::tools
