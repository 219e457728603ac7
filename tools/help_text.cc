#include "help_text.h"

#include <algorithm>
#include <utility>

#include "program.h"

namespace tbtrace::tools {
namespace {

/// Adds words to lines that begin with `indent` blanks.
class Lines {
 public:
  explicit Lines(std::size_t indent) : indent_(indent) {}

  void add(std::string_view word) {
    if (used_ > 0 && used_ + 1 + word.size() > kHelpWidth) end_line();
    const std::size_t blanks = used_ == 0 ? indent_ : 1;
    text_.append(blanks, ' ').append(word);
    used_ += blanks + word.size();
  }
  void end_line() {
    text_ += '\n';
    used_ = 0;
  }
  bool is_at_start() const { return used_ == 0; }
  std::string text() && { return std::move(text_); }

 private:
  std::size_t indent_;
  std::size_t used_ = 0;  ///< of the last line
  std::string text_;
};

/// `  summary    the first page ...`, the rest of the text below its start.
std::string entry(std::string_view name, std::string_view text, std::size_t width) {
  std::string lines = reflowed(text, width);
  return lines.replace(2, name.size(), name);
}

const Command* command_named(const std::vector<Command>& commands, std::string_view name) {
  const auto found = std::ranges::find(commands, name, &Command::name);
  return found == commands.end() ? nullptr : &*found;
}

std::string verbs_text(const std::vector<Command>& commands, bool all) {
  constexpr std::size_t kGap = 4;  // before and after a name
  std::size_t width = 0;
  for (const Command& command : commands) {
    width = std::max(width, all ? command.name.size() + kGap : 0);
  }
  for (const VerbGroup& group : verb_groups()) {
    for (const std::string_view name : group.first) width = std::max(width, name.size() + kGap);
  }
  std::string text;
  for (const VerbGroup& group : verb_groups()) {
    std::vector<std::string_view> names = group.first;
    if (all) names.insert(names.end(), group.more.begin(), group.more.end());
    if (names.empty()) continue;
    text += "\n" + std::string(group.title) + ":\n";
    for (const std::string_view name : names) {
      text += entry(name, command_named(commands, name)->summary, width);
    }
  }
  return text;
}

std::string other_verbs() {
  std::string text = "\nMore verbs (tbtrace --help --all says what they do):\n";
  for (const VerbGroup& group : verb_groups()) {
    std::string names;
    for (const std::string_view name : group.more) {
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    constexpr std::size_t kWidth = 10;
    if (!names.empty()) text += entry(group.title, names, kWidth);
  }
  return text;
}

}  // namespace

std::vector<VerbGroup> verb_groups() {
  return {{"Look",
           {"summary", "report", "diff", "flamegraph", "tensorboard"},
           {"open", "check", "mcp"}},
          {"Tables",
           {"ops", "kernels", "lines", "memory"},
           {"steps", "steps --marks", "serving", "gpu", "gpu --gaps", "whatif",
            "whatif --critical-path", "modules", "model", "model --by operator", "occupancy",
            "check --threads"}},
          {"Jobs", {"collectives"}, {"merge", "save", "add"}},
          {"Files", {}, {"convert", "slice", "repair", "anonymise", "replay", "recover"}},
          {"Record", {"record"}, {}},
          {"Program", {}, {"--version"}}};
}

std::string program_help(const std::vector<Command>& commands, bool all) {
  std::string text = "tbtrace: " + std::string(kProgramSummary) +
                     "\n\nUsage: tbtrace VERB [OPTIONS] INPUT...\n       tbtrace INPUT...   "
                     "the summary\n" +
                     verbs_text(commands, all);
  if (!all) text += other_verbs();
  text += "\n`tbtrace VERB --help` tells more and has examples.\n" + reflowed(kInputText);
  if (!all) return text;
  text += "\nExit codes:\n";
  for (const ExitCode& code : exit_codes()) {
    constexpr std::size_t kWidth = 5;
    text += entry(std::to_string(code.code), code.meaning, kWidth);
  }
  return text;
}

std::string reflowed(std::string_view text, std::size_t indent) {
  Lines lines(indent);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool ends_paragraph = line.empty() || line.front() == ' ';
    if (ends_paragraph && !lines.is_at_start()) lines.end_line();
    if (ends_paragraph) {
      if (!line.empty()) lines.add(line);
      lines.end_line();
      continue;
    }
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t word_end = std::min(line.find(' ', at), line.size());
      if (word_end > at) lines.add(line.substr(at, word_end - at));
      at = word_end + 1;
    }
  }
  if (!lines.is_at_start()) lines.end_line();
  return std::move(lines).text();
}

std::string examples_text(const Command& command) {
  std::string text = "\nExamples:\n";
  for (const Example& example : command.examples) {
    constexpr std::size_t kIndent = 6;
    text += "  " + std::string(example.command) + "\n" + reflowed(example.meaning, kIndent);
  }
  return text;
}

}  // namespace tbtrace::tools
