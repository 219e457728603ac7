#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include <tbtrace/status.h>

#include "command.h"
#include "console.h"
#include "heap.h"
#include "help_text.h"
#include "options.h"
#include "other_words.h"
#include "out_of_memory.h"

namespace {

/// Takes the further words of a verb, such as --gaps of `gpu --gaps`, out of the arguments; false
/// if they are not there. `check --threads` is one, `check --threads 4` says how many threads to
/// use.
bool take_words(std::string_view words, std::vector<std::string>& arguments) {
  const std::size_t space = words.find(' ');
  const std::string option(words.substr(0, space));
  for (auto found = arguments.begin(); found != arguments.end() && *found != "--"; ++found) {
    const auto next = found + 1;
    if (space != std::string_view::npos) {
      const std::string_view value = words.substr(space + 1);
      if (*found == option && next != arguments.end() && *next == value) {
        arguments.erase(found, next + 1);
        return true;
      }
      if (*found != option + "=" + std::string(value)) continue;
    } else if (*found != option ||
               (next != arguments.end() && tbtrace::tools::whole_number(*next))) {
      continue;
    }
    arguments.erase(found);
    return true;
  }
  return false;
}

/// Whether it is this command that is meant; if so, leaves only its arguments.
bool is_meant(const tbtrace::tools::Command& command, const std::string& verb,
              std::vector<std::string>& arguments) {
  const std::size_t space = command.name.find(' ');
  if (command.name.substr(0, space) != verb) return false;
  return space == std::string_view::npos || take_words(command.name.substr(space + 1), arguments);
}

int run_verb(std::vector<tbtrace::tools::Command> commands, const std::string& verb,
             std::vector<std::string> arguments, tbtrace::tools::Console& console) {
  std::vector<std::string_view> names = {"help"};
  std::ranges::stable_sort(commands, {}, [](const tbtrace::tools::Command& command) {
    return command.name.find(' ') == std::string_view::npos;
  });
  for (const tbtrace::tools::Command& command : commands) {
    names.push_back(command.name);
    if (!is_meant(command, verb, arguments)) continue;
    tbtrace::tools::OptionParser parser(command);
    const std::optional<int> code = parser.parse(arguments);
    return code ? *code : command.run(parser);
  }
  std::error_code failed;
  const bool is_path = verb.find_first_of("/.*") != std::string::npos && !verb.starts_with('-');
  if (is_path || std::filesystem::exists(verb, failed)) {
    arguments.insert(arguments.begin(), verb);
    return run_verb(std::move(commands), "summary", std::move(arguments), console);
  }
  const std::string_view known = tbtrace::tools::verb_for_word(verb);
  console.error(verb, "is not a verb" +
                          (known.empty() ? tbtrace::suggestion(verb, names)
                                         : " (did you mean '" + std::string(known) + "'?)") +
                          "; see tbtrace --help");
  return tbtrace::tools::kWrongUsage;
}

int run(const std::vector<std::string>& words, tbtrace::tools::Console& console) {
  const std::vector<tbtrace::tools::Command> commands = tbtrace::tools::commands();
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    if (words.size() == 2 && words[1] == "--all") {
      std::cout << tbtrace::tools::program_help(commands, true);
      return tbtrace::tools::kDone;
    }
    if (words.size() > 1) return run_verb(commands, words[1], {"--help"}, console);
    std::cout << tbtrace::tools::program_help(commands, false);
    return tbtrace::tools::kDone;
  }
  return run_verb(commands, words[0], {words.begin() + 1, words.end()}, console);
}

/// Used if there is not even enough memory to name the input; allocates nothing.
int end_out_of_memory(const tbtrace::Status& no_memory) {
  for (const char* const part : {"tbtrace: ", no_memory.message().c_str(), "\n"}) {
    if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  }
  return tbtrace::tools::kUnreadableInput;
}

int run_and_flush(const std::vector<std::string>& words) {
  tbtrace::tools::Console console({});
  const int code = run(words, console);
  if (std::cout.flush() || code != tbtrace::tools::kDone) return code;
  console.error("standard output", "cannot write; is there room left?");
  return tbtrace::tools::kUnwritableOutput;
}

}  // namespace

int main(int argc, char** argv) {
  tbtrace::tools::set_up_heap();
  const tbtrace::Status no_memory = tbtrace::out_of_memory();  // created while memory is available
  try {
    return run_and_flush({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    return end_out_of_memory(no_memory);
  } catch (const std::length_error&) {
    return end_out_of_memory(no_memory);
  }
}
