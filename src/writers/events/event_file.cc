#include "writers/events/event_file.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/host_name.h"
#include "base/nearest_integer.h"
#include "io/folder.h"
#include "io/remedies.h"
#include "wire/tfrecord.h"
#include "writers/events/messages.h"

namespace tbtrace::writers {
namespace {

constexpr std::string_view kMark = "tfevents";  // in every event file's name
constexpr std::string_view kStart = "events.out.tfevents.";

/// The host name as part of a file's name.
std::string host_part() {
  std::string host = host_name();
  std::replace(host.begin(), host.end(), '/', '_');
  return host.empty() ? "localhost" : host;
}

Status cannot_make(const std::string& directory, const std::error_code& error) {
  return {StatusCode::unwritable_output, "cannot create " + directory + ": " + error.message() +
                                             "; " + std::string(io::kChooseWritablePlace)};
}

}  // namespace

double wall_time_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

bool is_event_file(std::string_view name) { return name.find(kMark) != std::string_view::npos; }

std::map<std::string, std::filesystem::path> event_files(const std::filesystem::path& directory) {
  std::map<std::string, std::filesystem::path> files;
  std::error_code error;
  for (io::FolderEntry& entry : io::entries_of(directory, error)) {
    const std::string name = entry.path.filename().string();
    if (is_event_file(name)) files.emplace(name, std::move(entry.path));
  }
  return files;
}

StepRange steps_in(const std::string& path, std::string_view tag_start) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  StepRange steps;
  std::ifstream file(path, std::ios::binary);
  for (std::string event; wire::read_record(file, event);) {
    const std::int64_t step = step_of_event(event, tag_start).value_or(-1);
    if (step < 0 || step > kMost) continue;
    steps = steps.empty() ? StepRange{step, step}
                          : StepRange{std::min(steps.first, step), std::max(steps.last, step)};
  }
  return steps;
}

std::string event_file_name(double wall_time, std::string_view last_of_others,
                            std::string_view host, long process, std::string_view suffix) {
  constexpr double kMost = 9'999'999'999;  // 10 digits
  auto seconds = truncated_integer(std::clamp(wall_time, 0.0, kMost));
  if (last_of_others.starts_with(kStart)) {
    const std::string_view rest = last_of_others.substr(kStart.size());
    std::int64_t others = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), others);
    const bool fits = error == std::errc() && others < static_cast<std::int64_t>(kMost);
    if (fits && others >= seconds) seconds = others + 1;
  }
  return fmt::format("{}{:010}.{}.{}.0{}", kStart, seconds, host, process, suffix);
}

EventFile::EventFile(std::string path, std::unique_ptr<io::FolderLock> lock,
                     std::unique_ptr<io::AppendFile> file)
    : path_(std::move(path)), lock_(std::move(lock)), file_(std::move(file)) {}

Result<std::unique_ptr<EventFile>> EventFile::create(const std::string& directory,
                                                     const std::string& suffix, double wall_time,
                                                     const io::AppendFileMaker& make_file) {
  Result<std::unique_ptr<EventFile>> made = try_create(directory, suffix, wall_time, make_file);
  if (!made.ok() || *made != nullptr) return made;
  return Status(StatusCode::unwritable_output,
                "another writer has " + directory +
                    ", and TensorBoard loses values of two in one directory; give each its own");
}

Result<std::unique_ptr<EventFile>> EventFile::try_create(const std::string& directory,
                                                         const std::string& suffix,
                                                         double wall_time,
                                                         const io::AppendFileMaker& make_file) {
  if (Status can = can_write_events(); !can.ok()) return can;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return cannot_make(directory, error);
  Result<std::unique_ptr<io::FolderLock>> lock = io::FolderLock::try_lock(directory);
  if (!lock.ok()) return lock.status();
  if (*lock == nullptr) return std::unique_ptr<EventFile>();
  const auto others = event_files(directory);
  const std::string last = others.empty() ? std::string() : others.rbegin()->first;
  const std::string name = event_file_name(wall_time, last, host_part(), ::getpid(), suffix);
  std::string path = (std::filesystem::path(directory) / name).string();
  Result<std::unique_ptr<io::AppendFile>> file = make_file(path);
  if (!file.ok()) return file.status();
  std::unique_ptr<EventFile> made(
      new EventFile(std::move(path), *std::move(lock), *std::move(file)));
  std::string first;
  wire::append_record(first, file_version_event(wall_time));
  if (Status written = made->write(first); !written.ok()) {
    std::filesystem::remove(made->path_, error);
    return written;
  }
  return made;
}

bool EventFile::is_there() const {
  std::error_code error;
  return std::filesystem::exists(path_, error);
}

Status EventFile::write(std::string& records) {
  const io::AppendFile::Written written = file_->append(records);
  records.erase(0, written.bytes);
  return written.status;
}

}  // namespace tbtrace::writers
