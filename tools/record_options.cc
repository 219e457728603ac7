#include "record_options.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace tbtrace::tools {
namespace {

constexpr int kStepsBefore = 2;  // of a running program: one ends, and in one the profiler loads

/// As the recorder reads them.
void add(std::string& text, const std::string& name, const std::string& value) {
  text += name + "=" + value;
  text += '\0';
}

std::string what_is_recorded(const OptionParser& parser, const std::string& logs) {
  std::string text;
  add(text, "logs", logs);
  const std::pair<const char*, const char*> flags[] = {
      {"record-shapes", "record_shapes"},
      {"profile-memory", "profile_memory"},
      {"with-stack", "with_stack"},
      {"with-modules", "with_modules"},
      {"children", "children"},
      {"memory-snapshot", "memory_snapshot"},
      {"idle", "idle"},
  };
  for (const auto& [name, key] : flags) add(text, key, is_on(parser, name) ? "true" : "false");
  return text;
}

void add_times(std::string& text, const OptionParser& parser, const std::string& after) {
  for (const char* const name : {"seconds", "after"}) {
    if (!parser.text(name).empty()) add(text, name, parser.text(name));
  }
  if (!after.empty() && parser.text("after").empty()) add(text, "after", after);
}

}  // namespace

/// nullopt if `text` is not a number from 0 on.
std::optional<double> seconds_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value >= 0 && value < 1e9 ? std::optional(value) : std::nullopt;
}

bool is_by_time(const OptionParser& parser) {
  return parser.given("seconds") || parser.given("after");
}

std::string problem_of(const OptionParser& parser) {
  const bool has_command = !parser.standard().inputs.empty();
  if (has_command == parser.given("pid")) {
    return has_command ? "--pid records a program that runs, so it takes no command"
                       : "it takes the command to record after --, or --pid of one that runs";
  }
  if (parser.given("pid")) {
    const std::vector<std::string_view> pids = list_of(parser.text("pid"));
    const auto is_pid = [](std::string_view pid) {
      const std::int64_t number = whole_number(pid).value_or(0);
      return number > 0 && number <= std::numeric_limits<int>::max();
    };
    if (pids.empty() || !std::ranges::all_of(pids, is_pid)) {
      return "--pid takes process ids, separated by commas";
    }
    if (parser.flag("idle")) return "--idle starts a command; --pid then records it";
  }
  if (parser.flag("idle")) {
    for (const char* const name :
         {"steps", "skip", "seconds", "after", "record-shapes", "profile-memory", "with-stack",
          "with-modules", "memory-snapshot", "report", "no-summary"}) {
      if (!parser.given(name)) continue;
      return std::string("--idle records nothing by itself; --") + name +
             " goes with --pid, which asks for a recording";
    }
  }
  const bool by_time = is_by_time(parser);
  for (const char* const name : {"steps", "skip"}) {
    if (by_time && parser.given(name)) {
      return std::string("--") + name + " counts steps; it does not go with --seconds and --after";
    }
    const auto number = whole_number(parser.text(name));
    const bool is_steps = std::string_view(name) == "steps";
    if (!number || *number < (is_steps ? 1 : 0) || *number > 1'000'000'000) {
      return std::string("--") + name + (is_steps ? " takes 1 or more" : " takes 0 or more");
    }
  }
  for (const char* const name : {"seconds", "after"}) {
    if (parser.given(name) && !seconds_of(parser.text(name))) {
      return std::string("--") + name + " takes seconds, such as 2 or 0.5";
    }
  }
  return {};
}

bool is_on(const OptionParser& parser, const std::string& name) {
  return parser.given(name) ? parser.flag(name) : name == "record-shapes";
}

std::string options_of_program(const OptionParser& parser, const std::string& logs) {
  std::string text = what_is_recorded(parser, logs);
  for (const char* const name : {"steps", "skip"}) add(text, name, parser.text(name));
  add_times(text, parser, "");
  return text;
}

KinetoWindow kineto_window(const OptionParser& parser) {
  return {.steps = static_cast<int>(whole_number(parser.text("steps")).value_or(1)),
          .record_shapes = is_on(parser, "record-shapes"),
          .profile_memory = is_on(parser, "profile-memory"),
          .with_stack = is_on(parser, "with-stack"),
          .with_modules = is_on(parser, "with-modules")};
}

std::string options_of_request(const OptionParser& parser, const std::string& logs) {
  std::string text = what_is_recorded(parser, logs);
  add(text, "steps", parser.text("steps"));
  add(text, "skip", parser.given("skip") ? parser.text("skip") : std::to_string(kStepsBefore));
  add(text, "only_steps", parser.given("steps") || parser.given("skip") ? "true" : "false");
  add_times(text, parser, is_by_time(parser) ? "0" : "");
  return text;
}

}  // namespace tbtrace::tools
