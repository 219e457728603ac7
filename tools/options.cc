#include "options.h"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <memory>
#include <utility>

// Do not split values: file names and titles may contain commas.
#define CXXOPTS_VECTOR_DELIMITER '\0'
#include <cxxopts.hpp>

#include <tbtrace/status.h>

#include "heap.h"
#include "help_text.h"
#include "other_words.h"
#include "size_option.h"

namespace tbtrace::tools {
namespace {

constexpr int kMostThreads = 1024;
constexpr const char* kInputs = "inputs";

When when(const std::string& text) {
  if (text == "on" || text == "always") return When::on;
  return text == "off" || text == "never" ? When::off : When::automatic;
}

/// Returns what is wrong with the value of an option, empty if nothing is.
std::string check_choice(const Option& option, const std::string& text) {
  const std::vector<std::string_view>& choices = option.choices;
  if (choices.empty() || option.takes_others) return {};
  const auto is_choice = [&](std::string_view value) { return contains(choices, value); };
  if (option.is_list) {
    const std::vector<std::string_view> values = list_of(text);
    if (!values.empty() && std::all_of(values.begin(), values.end(), is_choice)) return {};
  } else if (is_choice(text)) {
    return {};
  }
  return "--" + std::string(option.name) + " takes " + listed(choices) + ", not '" + text + "'" +
         suggestion(text, choices);
}

cxxopts::Options cxxopts_for(const Command& command) {
  cxxopts::Options all("tbtrace " + std::string(command.name), reflowed(command.about));
  all.custom_help(std::string(command.usage));
  all.positional_help("");
  all.set_width(kHelpWidth);
  for (const OptionGroup& group : all_options(command)) {
    cxxopts::OptionAdder add = all.add_options(std::string(group.title));
    for (const Option& option : group.options) {
      std::string names(option.name);
      if (option.letter != '\0') names = option.letter + ("," + names);
      std::shared_ptr<cxxopts::Value> value = cxxopts::value<bool>();
      if (!option.value.empty()) value = cxxopts::value<std::string>();
      if (!option.otherwise.empty()) value->default_value(std::string(option.otherwise));
      std::string help(option.help);
      const char* separator = "\nValues: ";
      for (const std::string_view choice : unnamed_choices(option)) {
        help += std::exchange(separator, ", ") + std::string(choice);
      }
      add(names, help, value, std::string(option.value));
    }
  }
  all.add_options("positional")(kInputs, "", cxxopts::value<std::vector<std::string>>());
  all.parse_positional({kInputs});
  return all;
}

std::string help(const Command& command, const cxxopts::Options& options) {
  std::vector<std::string> titles;
  for (const OptionGroup& group : all_options(command)) titles.emplace_back(group.title);
  std::string text;
  for (const char c : options.help(titles)) {
    if (c == '\n') text.erase(text.find_last_not_of(' ') + 1);
    text += c;
  }
  return text + examples_text(command);
}

/// All values of an option.
std::vector<std::string> all_values(const cxxopts::ParseResult& parsed, const std::string& name) {
  std::vector<std::string> values;
  for (const cxxopts::KeyValue& argument : parsed.arguments()) {
    if (argument.key() == name) values.push_back(argument.value());
  }
  return values;
}

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return text;
}

/// The arguments with an option before each further word of one that takes words: `--base a b` is
/// `--base a --base=b`.
std::vector<std::string> with_words_apart(const std::vector<std::string>& arguments,
                                          const Command& command) {
  std::vector<std::string> taking;
  for (const OptionGroup& group : command.options) {
    for (const Option& option : group.options) {
      if (option.takes_words) taking.push_back("--" + std::string(option.name));
    }
  }
  std::vector<std::string> apart;
  std::string open;  // the option whose words these are
  bool has_value = false;
  for (const std::string& argument : arguments) {
    const bool is_word = !argument.starts_with('-') || argument == "-";
    if (!is_word) {
      const std::string name = argument.substr(0, argument.find('='));
      open = std::ranges::find(taking, name) == taking.end() ? "" : name;
      has_value = name.size() < argument.size();
      apart.push_back(argument);
    } else if (open.empty() || !has_value) {
      has_value = true;
      apart.push_back(argument);
    } else {
      apart.push_back(open + "=" + argument);
    }
  }
  return apart;
}

/// Versions of cxxopts differ in their quotation marks.
std::string plain_quotes(std::string text) {
  for (const std::string_view mark : {"\xe2\x80\x98", "\xe2\x80\x99"}) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
      text.replace(at, mark.size(), "'");
    }
  }
  return text;
}

/// The option that an unknown one may stand for.
std::string suggestion_for(const cxxopts::exceptions::exception& error, const Command& command) {
  if (dynamic_cast<const cxxopts::exceptions::no_such_option*>(&error) == nullptr) return {};
  const std::string text = plain_quotes(error.what());
  const std::size_t start = text.find('\'');
  const std::size_t end = text.rfind('\'');
  if (start == std::string::npos || start == end) return {};
  std::vector<std::string_view> names;
  const std::vector<OptionGroup> groups = all_options(command);
  for (const OptionGroup& group : groups) {
    for (const Option& option : group.options) names.push_back(option.name);
  }
  const std::string word = text.substr(start + 1, end - start - 1);
  std::string_view nearest = option_for_word(word);
  // Some words stand for an option with a value, `format json`.
  if (!contains(names, nearest.substr(0, nearest.find(' ')))) nearest = nearest_name(word, names);
  return nearest.empty() ? "" : " (did you mean --" + std::string(nearest) + "?)";
}

}  // namespace

OptionGroup standard_options() {
  return {"Input and output",
          {
              {.name = "output",
               .value = "PATH",
               .help = "where to write; - is standard output",
               .letter = 'o',
               .takes_path = true},
              {.name = "overwrite", .help = "replace an existing output"},
              {.name = "threads",
               .value = "N",
               .help = "threads to use (default: all cores)",
               .letter = 'j'},
              {.name = "max-memory",
               .value = "SIZE",
               .help = "end with a message instead of using more memory: 4GB"},
              {.name = "strict", .help = "fail if anything is wrong with an input"},
              {.name = "progress",
               .value = "WHEN",
               .help = "auto, on or off",
               .otherwise = "auto",
               .choices = {"auto", "on", "off"}},
              {.name = "color",
               .value = "WHEN",
               .help = "auto, always or never",
               .otherwise = "auto",
               .choices = {"auto", "always", "never"}},
              {.name = "quiet", .help = "no warnings and no progress", .letter = 'q'},
              {.name = "verbose", .help = "say more", .letter = 'v'},
              {.name = "help", .help = "this help", .letter = 'h'},
          }};
}

std::vector<OptionGroup> all_options(const Command& command) {
  std::vector<OptionGroup> groups = command.options;
  groups.push_back(standard_options());
  return groups;
}

std::string description(const Option& option) {
  std::string text(option.help);
  if (!option.otherwise.empty()) text += " (default: " + std::string(option.otherwise) + ")";
  return text;
}

std::vector<std::string_view> unnamed_choices(const Option& option) {
  const std::string text = description(option);
  const auto unnamed = std::count_if(
      option.choices.begin(), option.choices.end(),
      [&](std::string_view choice) { return text.find(choice) == std::string::npos; });
  return unnamed > 1 ? option.choices : std::vector<std::string_view>();
}

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string listed(const std::vector<std::string_view>& choices) {
  std::string text;
  for (const std::string_view& choice : choices) {
    if (&choice != &choices.front()) text += &choice == &choices.back() ? " or " : ", ";
    text += choice;
  }
  return text;
}

std::vector<std::string_view> list_of(std::string_view text) {
  std::vector<std::string_view> values;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    values.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return values;
}

bool OptionParser::given(const std::string& name) const { return values_.at(name).given; }

bool OptionParser::flag(const std::string& name) const { return values_.at(name).is_true; }

const std::string& OptionParser::text(const std::string& name) const {
  return values_.at(name).text;
}

const std::vector<std::string>& OptionParser::words(const std::string& name) const {
  return values_.at(name).words;
}

int OptionParser::wrong(const std::string& message) const {
  const std::string verb(command_.name);
  Console(standard_.console).error(verb, message + "; see tbtrace " + verb + " --help");
  return kWrongUsage;
}

std::optional<int> OptionParser::parse(const std::vector<std::string>& arguments) {
  std::vector<const char*> words = {"tbtrace"};
  const std::vector<std::string> apart = with_words_apart(arguments, command_);
  for (const std::string& argument : apart) words.push_back(argument.c_str());
  cxxopts::Options options = cxxopts_for(command_);
  try {
    const cxxopts::ParseResult parsed = options.parse(static_cast<int>(words.size()), words.data());
    if (parsed.count(kInputs) > 0) {
      standard_.inputs = parsed[kInputs].as<std::vector<std::string>>();
    }
    for (const OptionGroup& group : all_options(command_)) {
      for (const Option& option : group.options) {
        const std::string name(option.name);
        Value& value = values_[name];
        value.given = parsed.count(name) > 0;
        if (option.value.empty()) {
          value.is_true = value.given && parsed[name].as<bool>();
        } else if (value.given || !option.otherwise.empty()) {
          value.text = parsed[name].as<std::string>();
          if (option.is_list && value.given) value.text = joined(all_values(parsed, name));
          if (option.takes_words) value.words = all_values(parsed, name);
        }
      }
    }
  } catch (const cxxopts::exceptions::exception& error) {
    return wrong(plain_quotes(error.what()) + suggestion_for(error, command_));
  }
  if (flag("help")) {
    std::cout << help(command_, options);
    return kDone;
  }
  std::string problem = take_standard();
  if (problem.empty()) problem = check_choices();
  if (!problem.empty()) return wrong(problem);
  return std::nullopt;
}

std::string OptionParser::check_choices() const {
  for (const OptionGroup& group : all_options(command_)) {
    for (const Option& option : group.options) {
      const Value& value = values_.at(std::string(option.name));
      if (!value.given) continue;
      if (std::string problem = check_choice(option, value.text); !problem.empty()) return problem;
    }
  }
  return {};
}

std::string OptionParser::take_standard() {
  standard_.console = {.progress = when(text("progress")),
                       .color = when(text("color")),
                       .quiet = flag("quiet"),
                       .verbose = flag("verbose")};
  standard_.output = text("output");
  if (given("output") && standard_.output.empty()) return "--output takes a path";
  if (given("threads")) {
    const auto threads = whole_number(text("threads"));
    if (!threads || *threads < 1 || *threads > kMostThreads) {
      return "--threads takes 1 to " + std::to_string(kMostThreads);
    }
    standard_.reading.threads = static_cast<int>(*threads);
  }
  if (given("max-memory")) {
    const std::optional<std::size_t> bytes = size_in_bytes(text("max-memory"));
    if (!bytes || !limit_memory(*bytes))
      return "--max-memory takes a size from 32MB on, such as 4GB";
  }
  standard_.overwrite = flag("overwrite");
  standard_.reading.strict = flag("strict");
  const bool any_input = !standard_.inputs.empty();
  if (command_.inputs == Inputs::none && any_input) return "it takes no input";
  if (command_.inputs == Inputs::needed && !any_input) return "name at least one input";
  return {};
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string output_of(const StandardOptions& options) {
  return options.output.empty() ? "-" : options.output;
}

std::string format_of_suffix(std::string_view path,
                             const std::vector<std::pair<std::string, std::string>>& known) {
  for (const auto& [suffix, format] : known) {
    if (path.ends_with(suffix)) return format;
  }
  return {};
}

}  // namespace tbtrace::tools
