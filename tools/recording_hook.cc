#include "recording_hook.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "recording_files.h"

namespace tbtrace::tools {
namespace {

namespace fs = std::filesystem;

/// Where a file of the Python package's recorder goes: it lies beside sitecustomize.py as a
/// package.
std::string place_of(std::string_view name) {
  return (name == "sitecustomize.py" ? "" : "_tbtrace_recording/") + std::string(name);
}

Status unwritable(const std::string& path, const std::string& why) {
  return {StatusCode::unwritable_output,
          path + ": cannot be written: " + why + "; name another directory with -o"};
}

/// PYTHONPATH cannot name a folder with a colon in its name.
fs::path place_for(const std::string& logs) {
  if (logs.find(':') == std::string::npos) return logs;
  std::error_code failed;
  const fs::path place = fs::temp_directory_path(failed);
  return failed ? fs::path("/tmp") : place;
}

}  // namespace

void take(std::string_view line, RecordedProgram& program) {
  const std::size_t space = std::min(line.find(' '), line.size());
  const std::string_view kind = line.substr(0, space);
  const std::string text(line.substr(std::min(space + 1, line.size())));
  if (kind == "torch") program.has_torch = true;
  if (kind == "open") ++program.open_windows;
  if (kind == "trace" || kind == "empty") --program.open_windows;
  if (kind == "trace") program.traces.push_back(text);
  if (kind == "snapshot") program.snapshots.push_back(text);
  if (kind == "problem" && std::ranges::find(program.problems, text) == program.problems.end()) {
    program.problems.push_back(text);
  }
  if (kind == "steps") {
    const int steps = std::atoi(text.c_str());
    if (steps < program.most_steps) return;
    program.most_steps = steps;
    program.steps_by = text.substr(std::min(text.find(' ') + 1, text.size()));
  }
}

Result<RecordingHook> RecordingHook::make(const std::string& logs, const std::string& options) {
  std::string folder = (place_for(logs) / ".tbtrace-record-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return unwritable(logs, std::strerror(errno));
  RecordingHook hook(std::move(folder));
  const Status written = hook.write(options);
  if (!written.ok()) return unwritable(logs, written.message());
  return hook;
}

Status RecordingHook::write(const std::string& options) const {
  std::error_code failed;
  fs::create_directory(fs::path(folder_) / "_tbtrace_recording", failed);
  std::vector<std::pair<std::string, std::string_view>> files = {{"options", options}};
  for (const auto& [name, text] : kRecordingFiles) files.emplace_back(place_of(name), text);
  for (const auto& [place, text] : files) {
    std::ofstream stream(fs::path(folder_) / place, std::ios::binary);
    stream << text << std::flush;
    if (!stream) return {StatusCode::unwritable_output, "is there room left?"};
  }
  return {};
}

RecordingHook::~RecordingHook() {
  std::error_code failed;
  if (!folder_.empty()) fs::remove_all(folder_, failed);
}

std::string RecordingHook::python_path() const {
  const char* const before = std::getenv("PYTHONPATH");
  return before == nullptr || *before == '\0' ? folder_ : folder_ + ":" + before;
}

RecordedProgram RecordingHook::said() const {
  RecordedProgram program;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, failed)) {
    if (entry.path().extension() != ".said") continue;
    program.has_python = true;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) take(line, program);
  }
  std::ranges::sort(program.traces);
  std::ranges::sort(program.snapshots);
  return program;
}

}  // namespace tbtrace::tools
