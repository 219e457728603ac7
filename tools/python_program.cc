#include "python_program.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "console.h"
#include "options.h"

namespace tbtrace::tools {
namespace {

namespace fs = std::filesystem;

/// As execv() takes them; valid as long as the words.
std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::string program_in_path(std::string_view name) {
  const char* const path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const fs::path place = fs::path(folders.substr(0, end)) / name;
    if (::access(place.c_str(), X_OK) == 0 && !fs::is_directory(place)) return place.string();
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return {};
}

std::string own_python() {
  const char* const own = std::getenv("TBTRACE_PYTHON");
  return own == nullptr ? "" : own;
}

std::optional<int> exit_code_of(const std::vector<std::string>& words) {
  std::vector<char*> arguments = pointers_to(words);
  const ::pid_t child = ::fork();
  if (child < 0) return std::nullopt;
  if (child == 0) {
    ::execv(arguments.front(), arguments.data());
    ::_exit(127);
  }
  int state = 0;
  while (::waitpid(child, &state, 0) < 0) {
    if (errno != EINTR) return std::nullopt;
  }
  return WIFEXITED(state) ? std::optional(WEXITSTATUS(state)) : std::nullopt;
}

int become(const std::vector<std::string>& words, Console& console) {
  std::vector<char*> arguments = pointers_to(words);
  ::execv(arguments.front(), arguments.data());
  console.error(words.front(), std::string("cannot be run: ") + std::strerror(errno));
  return kUnreadableInput;
}

}  // namespace tbtrace::tools
