#include "running_process.h"

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include "shell_word.h"

namespace tbtrace::tools {
namespace {

namespace fs = std::filesystem;

std::string place(int pid, std::string_view file) {
  return "/proc/" + std::to_string(pid) + "/" + std::string(file);
}

/// nullopt if it cannot be read.
std::optional<std::string> content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) return std::nullopt;
  return text;
}

/// State and parent. The name before them may have any characters.
std::optional<std::pair<char, int>> state_and_parent(int pid) {
  const std::optional<std::string> text = content(place(pid, "stat"));
  if (!text) return std::nullopt;
  const std::size_t name_end = text->rfind(") ");
  if (name_end == std::string::npos || name_end + 4 >= text->size()) return std::nullopt;
  int parent = 0;
  std::from_chars(text->data() + name_end + 4, text->data() + text->size(), parent);
  return std::pair((*text)[name_end + 2], parent);
}

Status unreadable(const std::string& why) { return {StatusCode::unreadable_input, why}; }

}  // namespace

bool is_running(int pid) {
  const auto found = state_and_parent(pid);
  return found && found->first != 'Z' && found->first != 'X';
}

Result<RunningProcess> RunningProcess::of(int pid) {
  const std::string name = "process " + std::to_string(pid);
  struct stat facts = {};
  if (::stat(place(pid, "").c_str(), &facts) != 0) {
    return unreadable("there is no " + name + " on this machine; `pgrep -af python` lists them");
  }
  if (!is_running(pid)) return unreadable(name + " has ended");
  const std::optional<std::string> environment = content(place(pid, "environ"));
  if (!environment && ::geteuid() == 0) {
    return unreadable(name + " lets no other process look into it, not even one of root");
  }
  if (!environment) {
    return unreadable(facts.st_uid == ::geteuid()
                          ? name + " lets no other process look into it; run this as root"
                          : name + " belongs to user " + std::to_string(facts.st_uid) +
                                "; run this as that user or as root");
  }
  return RunningProcess(pid, facts.st_uid, *environment);
}

std::optional<std::string> RunningProcess::variable(std::string_view name) const {
  const std::string start = std::string(name) + "=";
  for (std::size_t at = 0; at < environment_.size();) {
    const std::string_view entry = environment_.c_str() + at;
    if (entry.starts_with(start)) return std::string(entry.substr(start.size()));
    at += entry.size() + 1;
  }
  return std::nullopt;
}

std::string RunningProcess::command() const {
  const std::string words = content(place(pid_, "cmdline")).value_or("");
  std::string text;
  for (std::size_t at = 0; at < words.size(); at += std::strlen(words.c_str() + at) + 1) {
    text += (text.empty() ? "" : " ") + shell_word(words.c_str() + at);
  }
  return text;
}

bool RunningProcess::maps(std::string_view name) const {
  return content(place(pid_, "maps")).value_or("").find(name) != std::string::npos;
}

bool RunningProcess::is_in_another_container() const {
  for (const char* const space : {"ns/mnt", "ns/pid"}) {
    std::error_code failed;
    const fs::path own = fs::read_symlink(fs::path("/proc/self") / space, failed);
    if (failed) continue;
    if (fs::read_symlink(place(pid_, space), failed) != own && !failed) return true;
  }
  return false;
}

std::vector<int> with_descendants(int pid) {
  std::multimap<int, int> children;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", failed)) {
    const std::string name = entry.path().filename().string();
    int found = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), found);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    if (const auto facts = state_and_parent(found)) children.emplace(facts->second, found);
  }
  std::vector<int> all = {pid};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [first, last] = children.equal_range(all[i]);
    for (auto child = first; child != last; ++child) all.push_back(child->second);
  }
  return all;
}

}  // namespace tbtrace::tools
