#include "inputs/search.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <glob.h>

#include "base/natural_order.h"
#include "inputs/log_file_name.h"
#include "inputs/look.h"
#include "inputs/staging_names.h"
#include "inputs/trace_names.h"
#include "io/archives/archive.h"
#include "io/folder.h"

namespace tbtrace::inputs {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUnnamedRun = "traces";

fs::path absolute_path(const fs::path& path) {
  std::error_code error;
  const fs::path from_root = fs::absolute(path, error);
  return (error ? path : from_root).lexically_normal();
}

/// Without links if it exists; without a trailing slash.
fs::path real_path(const fs::path& path) {
  const std::unique_ptr<char, decltype(&std::free)> there(::realpath(path.c_str(), nullptr),
                                                          &std::free);
  if (there != nullptr) return there.get();
  std::error_code error;
  fs::path real = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error) real = absolute_path(path);
  return real.has_filename() ? real : real.parent_path();
}

bool is_within(const fs::path& path, const fs::path& folder) {
  const auto [in_path, in_folder] =
      std::mismatch(path.begin(), path.end(), folder.begin(), folder.end());
  return in_folder == folder.end();
}

std::string run_of_folder(const fs::path& folder) {
  const fs::path normal = absolute_path(folder);
  const fs::path name = normal.has_filename() ? normal.filename() : normal.parent_path().filename();
  return name.empty() ? kUnnamedRun : inputs::safe_name(name.string());
}

class InputSearch {
 public:
  InputSearch(const std::string& log_directory, Wanted wanted, std::size_t most_folders)
      : log_directory_(log_directory.empty() ? fs::path() : real_path(log_directory)),
        wanted_(wanted),
        most_folders_(most_folders) {}

  void add(const std::string& named) {
    if (named == "-") {
      take(named, named, "stdin");
      return;
    }
    const std::optional<std::vector<std::string>> matches = pattern_matches(named);
    if (!matches) {
      add_path(named);
      return;
    }
    bool any = false;
    for (const std::string& match : *matches) {
      if (is_output(real_path(match))) continue;
      any = true;
      add_path(match);
    }
    if (!any) refuse(named, "no file matches; check the pattern");
  }

  Inputs inputs() && { return std::move(inputs_); }

 private:
  struct Folder {
    fs::path path;
    fs::path real;    // without links
    std::string run;  // of the files in it
  };

  void refuse(const std::string& named, const std::string& what) {
    inputs_.files.push_back({named, run_of_folder(named), {StatusCode::unreadable_input, what}});
  }

  void add_path(const std::string& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      search(path);
      return;
    }
    const std::string real = real_path(path).string();
    const std::string run = run_of_folder(absolute_path(path).parent_path());
    if (wanted_ == Wanted::traces && !is_taken_.contains(real) &&
        fs::is_regular_file(path, error) && look_at_file(path) == Look::archive &&
        take_archive(path, real, run_of_archive(path))) {
      return;
    }
    take(path, real, run);
  }

  /// As a folder of that name.
  static std::string run_of_archive(const fs::path& path) {
    return inputs::safe_name(without_packing(path.filename().native()));
  }

  /// The run of a file in an archive or folder of the run `run`.
  static std::string run_of_member(std::string run, const std::string& name) {
    for (const fs::path& part : fs::path(name).parent_path()) run = run_in(run, part);
    return run;
  }

  /// Takes the traces in an archive. False if there are none.
  bool take_archive(const std::string& path, const std::string& real, const std::string& run) {
    Result<io::Unpacked> archive = content_of(path);
    if (!archive.ok()) return false;
    bool any = false;
    const io::MemberVisitor visitor = {
        .wants =
            [](std::string_view name) {
              const NameSays says = what_name_says(name.substr(name.rfind('/') + 1));
              return says.trace || says.archive || says.unfinished;
            },
        .take =
            [&](const std::string& name, Result<std::unique_ptr<io::ByteSource>> content) {
              const std::string base_name = fs::path(name).filename().native();
              const bool is_readable = content.ok();
              const Look look = is_readable ? look_at(*std::move(content)) : Look::unreadable;
              const std::string member_path = path + "/" + name;
              // An archive in the archive that cannot be read, whose traces would be overlooked.
              const bool is_archive = !is_readable && what_name_says(base_name).archive;
              if (is_archive || is_taken(base_name, look)) {
                any = true;
                take_named(base_name, member_path, real + "/" + name, run_of_member(run, name));
              } else if (what_name_says(base_name).trace) {
                inputs_.passed_over.push_back(member_path);
              }
            }};
    const Status visited = io::visit_members(*std::move(archive), visitor);
    // If none was found, who reads the archive itself says why.
    if (any && !visited.ok()) inputs_.files.push_back({path, run, visited});
    if (any) is_taken_[real] = true;
    return any;
  }

  /// Whether a file in a folder or an archive is one of the traces there, which are read or fail.
  static bool is_taken(std::string_view base_name, Look look) {
    const NameSays says = what_name_says(base_name);
    if (!says.trace && !says.unfinished) return false;
    // The reader reports damaged files. Unreadable hidden files are not taken for traces.
    const bool fails = look == Look::unreadable || look == Look::archive;
    return look == Look::trace || (fails && !base_name.starts_with('.')) ||
           (look == Look::other_json && is_name_of_handler(base_name));
  }

  void take_named(std::string_view base_name, const std::string& path, const std::string& real,
                  const std::string& run) {
    if (!what_name_says(base_name).unfinished) {
      take(path, real, run);
    } else if (!std::exchange(is_taken_[real], true)) {
      inputs_.files.push_back({path,
                               run,
                               {StatusCode::unreadable_input,
                                "has the name of a trace that is not finished; wait for the "
                                "program that writes it, or delete the file if that program was "
                                "stopped; it is read if you name it itself"}});
    }
  }

  void take(const std::string& path, const std::string& real, const std::string& run) {
    bool& taken = is_taken_[real];
    if (!std::exchange(taken, true)) inputs_.files.push_back({path, run, {}});
  }

  /// Whether conversions write into this folder.
  bool is_output(const fs::path& real) const {
    return (!log_directory_.empty() && is_within(real, log_directory_)) ||
           std::any_of(real.begin(), real.end(), [](const fs::path& component) {
             return std::string_view(component.native()).ends_with(inputs::kStagingEnding);
           });
  }

  void search(const std::string& named) {
    const Folder top = {named, real_path(named), run_of_folder(named)};
    if (is_output(top.real)) {
      refuse(named,
             "is inside the log directory, which is not searched; name the files themselves");
      return;
    }
    std::error_code error;
    static_cast<void>(io::entries_of(named, error));
    if (error) {
      refuse(named,
             "cannot read this directory: " + error.message() + "; check that you may read it");
      return;
    }
    searched_.clear();
    links_.clear();
    any_found_ = false;
    any_partial_ = false;
    const std::size_t found_before = inputs_.files.size();
    std::vector<Folder> to_do = {top};
    // Links come last, so that a file found both ways gets the run of its own folder.
    while (!to_do.empty() || !links_.empty()) {
      if (to_do.empty()) {
        follow(links_.front(), to_do);
        links_.pop_front();
        continue;
      }
      const Folder folder = std::move(to_do.back());
      to_do.pop_back();
      search_folder(folder, to_do);
      if (searched_.size() > most_folders_) {
        inputs_.files.resize(found_before);
        refuse(named, "has more than " + std::to_string(most_folders_) +
                          " directories in it, too many to search; name the directory that has "
                          "the traces");
        return;
      }
    }
    if (!any_found_) {
      const std::string what = wanted_ == Wanted::traces ? "traces" : "partials (`.tbp`)";
      const std::string instead = any_partial_ ? ", but partials; name those themselves: `" +
                                                     (partial_folder_ / "*.tbp").string() + "`"
                                               : "; name a directory or files that do";
      refuse(named, "contains no " + what + instead);
    }
  }

  void search_folder(const Folder& folder, std::vector<Folder>& to_do) {
    if (is_output(folder.real) || !searched_.insert(folder.real.string()).second) return;
    std::error_code error;
    std::vector<io::FolderEntry> entries = io::entries_of(folder.path, error);
    if (error) inputs_.passed_over.push_back(folder.path.string());
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
      return in_natural_order(a.path.native(), b.path.native());
    });
    const std::size_t first = to_do.size();
    for (const io::FolderEntry& entry : entries) {
      const fs::path name = entry.path.filename();
      if (entry.type == fs::file_type::symlink) {
        links_.push_back({entry.path, folder.real, folder.run});
      } else if (entry.type == fs::file_type::directory) {
        to_do.push_back({entry.path, folder.real / name, run_in(folder.run, name)});
      } else if (entry.type == fs::file_type::regular) {
        examine(entry.path, folder.real / name, folder.run);
      }
    }
    std::reverse(to_do.begin() + static_cast<std::ptrdiff_t>(first), to_do.end());
  }

  /// `link`: its path, with the real path and the run of the folder that contains it.
  void follow(const Folder& link, std::vector<Folder>& to_do) {
    std::error_code error;
    const fs::path real = real_path(link.path);
    if (fs::is_regular_file(link.path, error)) {
      examine(link.path, real, link.run);
    } else if (fs::is_directory(link.path, error) && !is_within(link.real, real)) {
      to_do.push_back({link.path, real, run_in(link.run, link.path.filename())});
    } else if (!fs::exists(link.path, error)) {
      say_dangling(link);
    }
  }

  /// A trace that is meant to be there.
  void say_dangling(const Folder& link) {
    const std::string name = link.path.filename().string();
    const bool is_meant =
        wanted_ == Wanted::partials ? name.ends_with(".tbp") : what_name_says(name).trace;
    if (!is_meant || name.starts_with('.')) return;
    std::error_code error;
    const std::string target = fs::read_symlink(link.path, error).string();
    inputs_.files.push_back({link.path.string(),
                             link.run,
                             {StatusCode::unreadable_input,
                              "is a link to " + target +
                                  ", which is not there; restore that file or remove the link"}});
  }

  static std::string run_in(const std::string& run, const fs::path& name) {
    return run + "/" + inputs::safe_name(name.string());
  }

  void examine(const fs::path& path, const fs::path& real, const std::string& run) {
    const std::string name = path.filename().string();
    if (wanted_ == Wanted::partials) {
      if (!name.ends_with(".tbp")) return;
      any_found_ = true;
      take(path.string(), real.string(), run);
      return;
    }
    if (!any_partial_ && name.ends_with(".tbp")) {
      any_partial_ = true;
      partial_folder_ = path.parent_path();
    }
    const NameSays says = what_name_says(name);
    if (!says.trace && !says.archive && !says.unfinished) return;
    if (const auto known = is_taken_.find(real.string()); known != is_taken_.end()) {
      any_found_ = any_found_ || known->second;
      return;
    }
    const Look look = look_at_file(path.string());
    const std::string run_within = run_in(run, fs::path(without_packing(name)));
    if (look == Look::archive && take_archive(path.string(), real.string(), run_within)) {
      any_found_ = true;
    } else if (is_taken(name, look)) {
      any_found_ = true;
      take_named(name, path.string(), real.string(), run);
    } else {
      is_taken_[real.string()] = false;
      inputs_.passed_over.push_back(path.string());
    }
  }

  const fs::path log_directory_;
  const Wanted wanted_;
  const std::size_t most_folders_;
  Inputs inputs_;
  std::map<std::string, bool> is_taken_;  // by real path, for files examined so far
  // For the folder that is being searched:
  std::set<std::string> searched_;
  std::deque<Folder> links_;
  bool any_found_ = false;
  bool any_partial_ = false;  // where traces are wanted
  fs::path partial_folder_;   // of the first one
};

}  // namespace

std::optional<std::vector<std::string>> pattern_matches(const std::string& named) {
  std::error_code error;
  const bool there = fs::exists(fs::symlink_status(named, error));
  if (there || named.find_first_of("*?[") == std::string::npos) return std::nullopt;
  std::vector<std::string> matches;
  glob_t found = {};
  if (::glob(named.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
    matches.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  std::sort(matches.begin(), matches.end(), in_natural_order);
  return matches;
}

Inputs find_inputs(const std::vector<std::string>& named, const std::string& log_directory,
                   Wanted wanted, std::size_t most_folders) {
  InputSearch search(log_directory, wanted, most_folders);
  for (const std::string& name : named) search.add(name);
  return std::move(search).inputs();
}

}  // namespace tbtrace::inputs
