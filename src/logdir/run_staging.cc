#include "logdir/run_staging.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inputs/staging_names.h"
#include "io/folder.h"

namespace tbtrace::logdir {
namespace {

namespace fs = std::filesystem;

// A separate folder in each run's folder, because a run may be inside another (`a/b` in `a`).
constexpr const char* kFilesFolder = ".run";
constexpr std::string_view kHiddenEnding = ".partial";

Status failure(const std::string& what) { return {StatusCode::unwritable_output, what}; }
Status system_failure(const std::string& what, int code) {
  return failure(what + ": " + std::strerror(code) +
                 "; choose a log directory that is writable and has free space");
}
Status already_there(const std::string& file) {
  return {StatusCode::output_exists, file + " exists already"};
}
Status busy() {
  return failure(
      "another conversion is writing to this directory; wait until it has ended, or name another "
      "directory");
}

bool is_name(std::string_view text) {
  return !text.empty() && text.front() != '.' &&
         text.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

Status check_names(std::string_view run, std::string_view file) {
  for (std::string_view rest = run; is_name(file);) {
    const std::size_t slash = rest.find('/');
    if (!is_name(rest.substr(0, slash))) break;
    if (slash == std::string_view::npos) return {};
    rest.remove_prefix(slash + 1);
  }
  return {StatusCode::invalid_argument,
          "'" + std::string(run) + "/" + std::string(file) +
              "' is not inside the log directory; give the run another name"};
}

/// Whether the file exists. An empty regular file does not count.
bool is_there(const fs::path& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0 && !(S_ISREG(info.st_mode) && info.st_size == 0);
}

/// Not used yet, or our own folder; in a folder such as /tmp it may belong to another user.
bool is_usable(const fs::path& folder) {
  struct stat info = {};
  if (::lstat(folder.c_str(), &info) != 0) return errno == ENOENT;
  return S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
}

/// Tried out, because mount points, file systems that cannot move folders and permissions cannot be
/// known otherwise.
bool can_move_folders(const fs::path& from, const fs::path& to) {
  const fs::path probe = from / ".probe";
  const fs::path moved = to / ".probe";
  if (::mkdir(probe.c_str(), 0777) != 0 && errno != EEXIST) return false;
  const bool can_move = std::rename(probe.c_str(), moved.c_str()) == 0;
  ::rmdir(can_move ? moved.c_str() : probe.c_str());
  return can_move;
}

/// Sets the group of `folder` to the one that new entries in `model` get.
void take_group(const fs::path& folder, const fs::path& model) {
  struct stat info = {};
  if (::stat(model.c_str(), &info) != 0 || (info.st_mode & S_ISGID) == 0) return;
  const gid_t group = info.st_gid;
  if (::chown(folder.c_str(), static_cast<uid_t>(-1), group) == 0 &&
      ::stat(folder.c_str(), &info) == 0) {
    static_cast<void>(::chmod(folder.c_str(), (info.st_mode & 07777) | S_ISGID));
  }
}

/// `<name>.tmp-<digits>-<digits>`, the form that io::create_file() uses for unfinished files.
bool is_temporary(std::string_view name) {
  const std::size_t mark = name.rfind(".tmp-");
  if (mark == std::string_view::npos) return false;
  const std::string_view numbers = name.substr(mark + 5);
  return numbers.find('-') != std::string_view::npos &&
         numbers.find_first_not_of("0123456789-") == std::string_view::npos;
}

/// The name of a waiting file where TensorBoard may look: with an ending that its plugin ignores,
/// and with a `~` after each `tf`, because TensorBoard itself reads every file with `tfevents` in
/// its name.
std::string hidden_name(std::string_view name) {
  std::string hidden;
  for (const char c : name) {
    hidden += c;
    if (hidden.ends_with("tf")) hidden += '~';
  }
  return hidden.append(kHiddenEnding);
}

std::string shown_name(std::string_view hidden) {
  hidden.remove_suffix(kHiddenEnding.size());
  std::string name;
  for (std::size_t at = 0; at < hidden.size(); ++at) {
    name += hidden[at];
    if (name.ends_with("tf")) ++at;  // the `~`
  }
  return name;
}

/// The files waiting in a folder, by their final names.
std::map<std::string, fs::path> waiting_in(const fs::path& folder, bool hidden) {
  std::map<std::string, fs::path> files;
  std::error_code error;
  for (io::FolderEntry& entry : io::entries_of(folder, error)) {
    const std::string name = entry.path.filename().string();
    if (is_temporary(name) || !logdir::is_there(entry.path)) continue;
    if (name.ends_with(kHiddenEnding)) {
      files.emplace(shown_name(name), std::move(entry.path));
    } else if (!hidden) {
      files.emplace(name, std::move(entry.path));
    }
  }
  return files;
}

/// Returns 0 or errno.
int move_file(const fs::path& from, const fs::path& to, bool overwrite) {
  if (!overwrite) {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
    // The file system cannot do it in one step, or `to` exists and may be empty.
    if (errno != EINVAL && errno != ENOSYS && errno != EEXIST) return errno;
    if (is_there(to)) return EEXIST;
  }
  // Keep the permissions of the replaced file, which may be private.
  struct stat info = {};
  if (::stat(to.c_str(), &info) == 0) {
    static_cast<void>(::chmod(from.c_str(), info.st_mode & 07777));
  }
  return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

RunStaging::RunStaging(fs::path log_directory, Options options)
    : log_directory_(std::move(log_directory)), options_(options) {}

RunStaging::~RunStaging() {
  try {
    for (const io::FolderEntry& entry : io::all_entries_below(root_)) {
      ::rmdir(entry.path.c_str());  // fails for files and for folders that are not empty
    }
    ::rmdir(root_.c_str());
    if (lock_ != nullptr) {
      lock_.reset();
      ::rmdir(inside().c_str());
    }
  } catch (const std::bad_alloc&) {
    // Out of memory: empty folders stay for the next call.
  }
  if (made_log_directory_) ::rmdir(log_directory_.c_str());  // nothing was written
}

fs::path RunStaging::inside() const { return log_directory_ / inputs::kStagingEnding; }

fs::path RunStaging::beside() const {
  if (!log_directory_.has_filename()) return {};  // the root of the file system
  const std::string name = "." + log_directory_.filename().string();
  return log_directory_.parent_path() / (name + std::string(inputs::kStagingEnding));
}

Result<std::unique_ptr<RunStaging>> RunStaging::open(const std::string& log_directory,
                                                     Options options) {
  std::error_code error;
  const bool made = fs::create_directories(log_directory, error);
  std::error_code ignored;
  if (!fs::is_directory(log_directory, ignored)) {
    if (fs::exists(log_directory, ignored)) return failure("is a file; name a directory");
    return system_failure("cannot create this directory", error ? error.value() : ENOENT);
  }
  const fs::path directory = fs::canonical(log_directory, error);
  if (error) return system_failure("cannot use this directory", error.value());

  std::unique_ptr<RunStaging> staging(new RunStaging(directory, options));
  staging->made_log_directory_ = made;
  // One lock, wherever the files wait: the place depends on permissions, which differ by user.
  Result<std::unique_ptr<io::FolderLock>> lock = io::FolderLock::try_lock(staging->inside());
  if (!lock.ok()) return lock.status();
  if (*lock == nullptr) return busy();
  staging->lock_ = *std::move(lock);
  const fs::path beside = staging->beside();
  staging->hidden_ = beside.empty() || !staging->can_wait_in(beside);
  staging->root_ = staging->hidden_ ? staging->inside() : beside;
  staging->tidy();
  return staging;
}

bool RunStaging::can_wait_in(const fs::path& folder) const {
  if (!is_usable(folder)) return false;
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) return false;
  if (!can_move_folders(folder, log_directory_)) {
    ::rmdir(folder.c_str());
    return false;
  }
  take_group(folder, log_directory_);
  return true;
}

/// Brings leftovers of a killed call into the state before it moved anything: removes unfinished
/// files, and gives event files their waiting names.
void RunStaging::tidy() const {
  for (const io::FolderEntry& entry : io::all_entries_below(root_)) {
    const std::string name = entry.path.filename().string();
    if (entry.type != fs::file_type::regular || name == ".lock") continue;
    if (is_temporary(name) || !logdir::is_there(entry.path)) {
      ::unlink(entry.path.c_str());
    } else if (name.find("tfevents") != std::string::npos) {
      const fs::path waiting = entry.path.parent_path() / hidden_name(name);
      static_cast<void>(std::rename(entry.path.c_str(), waiting.c_str()));
    }
  }
}

fs::path RunStaging::waiting_folder(const std::string& run) const {
  return root_ / run / kFilesFolder;
}

fs::path RunStaging::waiting_file(const std::string& run, const std::string& file) const {
  // TensorBoard's --logdir may be the parent of the log directory.
  const bool is_read_there = hidden_ || file.find("tfevents") != std::string::npos;
  return waiting_folder(run) / (is_read_there ? hidden_name(file) : file);
}

std::map<std::string, fs::path> RunStaging::files(const std::string& run) const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, fs::path> files;
  std::error_code error;
  for (io::FolderEntry& entry : io::entries_of(log_directory_ / run, error)) {
    std::string name = entry.path.filename().string();
    files.emplace(std::move(name), std::move(entry.path));
  }
  if (!options_.resume && !begun_.contains(run)) return files;
  files.merge(waiting_in(waiting_folder(run), hidden_));
  return files;
}

std::vector<std::string> RunStaging::left_below(const std::string& run) const {
  std::vector<std::string> runs;
  if (!options_.resume) return runs;
  std::error_code error;
  for (const io::FolderEntry& entry : io::entries_of(root_ / run, error)) {
    const std::string below = run + "/" + entry.path.filename().string();
    if (logdir::is_there(waiting_folder(below))) runs.push_back(below);
  }
  return runs;
}

bool RunStaging::exists(const std::string& run, const std::string& file) const {
  const std::lock_guard lock(mutex_);
  return check_names(run, file).ok() && is_there(run, file);
}

bool RunStaging::is_there(const std::string& run, const std::string& file) const {
  if (logdir::is_there(log_directory_ / run / file)) return true;
  const bool counts = options_.resume || begun_.contains(run);
  return counts && logdir::is_there(waiting_file(run, file));
}

Result<std::string> RunStaging::place(const std::string& run, const std::string& file,
                                      const std::vector<std::string>& replaced) {
  if (Status names = check_names(run, file); !names.ok()) return names;
  const std::lock_guard lock(mutex_);
  if (!options_.overwrite && is_there(run, file)) return already_there(run + "/" + file);
  std::error_code error;
  const fs::file_status there = fs::status(log_directory_ / run, error);
  if (fs::exists(there) && !fs::is_directory(there)) {
    return failure(run + " in this directory is a file; give the run another name");
  }
  const fs::path folder = waiting_folder(run);
  // Leftovers of a killed call must not appear with the files of this one.
  if (begun_.insert(run).second && !options_.resume) io::remove_folder(folder);
  fs::create_directories(folder, error);
  if (error) return system_failure("cannot create " + folder.string(), error.value());
  replaced_[run][file] = replaced;
  const fs::path waiting = waiting_file(run, file);
  if (!logdir::is_there(waiting)) ::unlink(waiting.c_str());  // an empty file
  return waiting.string();
}

void RunStaging::discard(const std::string& run, const std::string& file) {
  const std::lock_guard lock(mutex_);
  if (replaced_[run].erase(file) > 0) ::unlink(waiting_file(run, file).c_str());
}

RunStaging::Finished RunStaging::finish(const std::string& run) {
  if (Status names = check_names(run, "file"); !names.ok()) return {names, {}};
  const std::lock_guard guard(mutex_);
  if (!options_.resume && !begun_.contains(run)) return {};
  const fs::path folder = waiting_folder(run);
  const fs::path target = log_directory_ / run;
  Finished finished;
  const std::map<std::string, fs::path> waiting = waiting_in(folder, hidden_);
  if (!waiting.empty()) {
    const bool has_events = std::any_of(waiting.begin(), waiting.end(), [](const auto& file) {
      return file.first.find("tfevents") != std::string::npos;
    });
    Result<std::unique_ptr<io::FolderLock>> folder_lock =
        has_events ? lock(run) : std::unique_ptr<io::FolderLock>();
    if (!folder_lock.ok()) {
      finished.status = folder_lock.status();
      for (const auto& [name, path] : waiting) finished.not_moved.insert(name);
      return finished;
    }
    std::error_code error;
    fs::create_directories(target.parent_path(), error);
    // Replaces an empty folder, never one with files in it.
    const bool in_one_step =
        !hidden_ && (!fs::exists(target, error) || fs::is_empty(target, error));
    if (in_one_step) {
      for (const auto& [name, path] : waiting) move_file(path, folder / name, true);
    }
    const bool moved = in_one_step && std::rename(folder.c_str(), target.c_str()) == 0;
    if (!moved) finished = move_files(folder, run);
    remove_replaced(run, finished.not_moved);
  }
  remove_empty_folders(folder);
  return finished;
}

RunStaging::Finished RunStaging::move_files(const fs::path& from, const std::string& run) const {
  const fs::path to = log_directory_ / run;
  std::error_code error;
  fs::create_directories(to, error);
  Finished finished;
  if (error) finished.status = system_failure("cannot create " + to.string(), error.value());
  for (const auto& [file, waiting] : waiting_in(from, hidden_)) {
    const int code = error ? error.value() : move_file(waiting, to / file, options_.overwrite);
    if (code == 0) continue;
    if (code == EEXIST) ::unlink(waiting.c_str());
    if (code == EEXIST && options_.resume) continue;
    finished.not_moved.insert(file);
    if (!finished.status.ok()) continue;
    finished.status = code == EEXIST ? already_there(run + "/" + file)
                                     : system_failure("cannot move " + run + "/" + file, code);
  }
  return finished;
}

Status RunStaging::check_lock(const std::string& run) const { return lock(run).status(); }

Result<std::unique_ptr<io::FolderLock>> RunStaging::lock(const std::string& run) const {
  std::error_code error;
  if (!fs::is_directory(log_directory_ / run, error)) return std::unique_ptr<io::FolderLock>();
  Result<std::unique_ptr<io::FolderLock>> lock = io::FolderLock::try_lock(log_directory_ / run);
  if (lock.ok() && *lock == nullptr) {
    return failure("another program is writing to " + run +
                   " in this directory; wait until it has ended, or name another run or worker");
  }
  return lock;
}

void RunStaging::remove_replaced(const std::string& run, const std::set<std::string>& not_moved) {
  const auto files = replaced_.extract(run);
  if (files.empty()) return;
  for (const auto& [file, replaced] : files.mapped()) {
    if (not_moved.contains(file) || !logdir::is_there(log_directory_ / run / file)) continue;
    for (const std::string& name : replaced) {
      // A new file may have taken this name.
      if (!files.mapped().contains(name)) ::unlink((log_directory_ / run / name).c_str());
    }
  }
}

Leftovers RunStaging::leftovers() const {
  Leftovers leftovers;
  for (const fs::path& folder : {beside(), inside()}) {
    for (const io::FolderEntry& entry : io::all_entries_below(folder)) {
      const std::string name = entry.path.filename().string();
      if (entry.type != fs::file_type::regular || name == ".lock" || is_temporary(name)) continue;
      leftovers.directory = folder.string();
      ++leftovers.files;
      std::error_code error;
      const std::uintmax_t bytes = fs::file_size(entry.path, error);
      if (!error) leftovers.bytes += bytes;
    }
  }
  return leftovers;
}

void RunStaging::remove_empty_folders(fs::path folder) const {
  // The first one no longer exists if it was moved.
  ::rmdir(folder.c_str());
  for (folder = folder.parent_path(); folder != root_ && ::rmdir(folder.c_str()) == 0;) {
    folder = folder.parent_path();
  }
}

}  // namespace tbtrace::logdir
