#include "options.h"

#include <charconv>
#include <iostream>
#include <utility>

namespace tbtrace::tools {
namespace {

constexpr const char* kStandardGroup = "Input and output";
constexpr int kMostThreads = 1024;

std::optional<When> parse_when(const std::string& text, const std::string& always,
                               const std::string& never) {
  if (text == "auto") return When::automatic;
  if (text == always) return When::on;
  if (text == never) return When::off;
  return std::nullopt;
}

}  // namespace

OptionParser::OptionParser(std::string verb, const std::string& usage, const std::string& about,
                           std::string examples)
    : verb_(std::move(verb)), examples_(std::move(examples)), options_("tbtrace " + verb_, about) {
  options_.custom_help(usage);
  options_.positional_help("");
  options_.set_width(100);
  options_.add_options(kStandardGroup)  //
      ("o,output", "where to write; - is standard output", cxxopts::value<std::string>(),
       "PATH")                                     //
      ("overwrite", "replace an existing output")  //
      ("j,threads", "threads to read with (default: all cores)", cxxopts::value<std::string>(),
       "N")                                                  //
      ("strict", "fail if anything is wrong with an input")  //
      ("progress", "auto, on or off", cxxopts::value<std::string>()->default_value("auto"),
       "WHEN")  //
      ("color", "auto, always or never", cxxopts::value<std::string>()->default_value("auto"),
       "WHEN")                                    //
      ("q,quiet", "no warnings and no progress")  //
      ("v,verbose", "say more")                   //
      ("h,help", "this help");
  options_.add_options("positional")("inputs", "", cxxopts::value<std::vector<std::string>>());
  options_.parse_positional({"inputs"});
}

cxxopts::OptionAdder OptionParser::add(const std::string& group) {
  groups_.push_back(group);
  return options_.add_options(group);
}

std::string OptionParser::help() const {
  std::vector<std::string> groups = groups_;
  groups.emplace_back(kStandardGroup);
  const std::string text = options_.help(groups) + "\nExamples:\n" + examples_;
  std::string without_trailing_blanks;
  for (const char c : text) {
    if (c == '\n') {
      without_trailing_blanks.erase(without_trailing_blanks.find_last_not_of(' ') + 1);
    }
    without_trailing_blanks += c;
  }
  return without_trailing_blanks;
}

bool OptionParser::flag(const std::string& name) const {
  return values_.count(name) > 0 && values_[name].as<bool>();
}

int OptionParser::wrong(const std::string& message) const {
  Console(standard_.console).error(verb_, message + "; see tbtrace " + verb_ + " --help");
  return kWrongUsage;
}

std::optional<int> OptionParser::parse(const std::vector<std::string>& arguments) {
  std::vector<const char*> words = {"tbtrace"};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  try {
    values_ = options_.parse(static_cast<int>(words.size()), words.data());
    if (flag("help")) {
      std::cout << help();
      return kDone;
    }
    if (const std::string problem = take_standard(); !problem.empty()) return wrong(problem);
  } catch (const cxxopts::exceptions::exception& error) {
    return wrong(error.what());
  }
  return std::nullopt;
}

std::string OptionParser::take_standard() {
  if (values_.count("inputs") > 0) {
    standard_.inputs = values_["inputs"].as<std::vector<std::string>>();
  }
  if (values_.count("output") > 0) {
    standard_.output = values_["output"].as<std::string>();
    if (standard_.output.empty()) return "--output takes a path";
  }
  if (values_.count("format") > 0) standard_.format = values_["format"].as<std::string>();
  if (values_.count("threads") > 0) {
    const auto threads = whole_number(values_["threads"].as<std::string>());
    if (!threads || *threads < 1 || *threads > kMostThreads) {
      return "--threads takes 1 to " + std::to_string(kMostThreads);
    }
    standard_.reading.threads = static_cast<int>(*threads);
  }
  standard_.overwrite = flag("overwrite");
  standard_.reading.strict = flag("strict");
  standard_.console.quiet = flag("quiet");
  standard_.console.verbose = flag("verbose");
  const auto progress = parse_when(values_["progress"].as<std::string>(), "on", "off");
  const auto color = parse_when(values_["color"].as<std::string>(), "always", "never");
  if (!progress) return "--progress takes auto, on or off";
  if (!color) return "--color takes auto, always or never";
  standard_.console.progress = *progress;
  standard_.console.color = *color;
  if (!takes_inputs_) return standard_.inputs.empty() ? "" : "it takes no input";
  const bool may_be_elsewhere = values_.count("files-from") > 0;
  if (standard_.inputs.empty() && !may_be_elsewhere) return "no input was named";
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
