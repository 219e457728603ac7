#include "inputs/search.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <glob.h>

#include "base/natural_order.h"
#include "inputs/log_file_name.h"
#include "inputs/staging_names.h"
#include "io/folder.h"
#include "io/source.h"

namespace tbtrace::inputs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLookedAt = std::size_t{64} << 10;
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

bool has_traces_name(std::string_view name) {
  return name.ends_with(".json") || name.ends_with(".json.gz");
}

/// Has a name as given by the profiler's handlers.
bool says_trace(std::string_view name) {
  return name.ends_with(".pt.trace.json") || name.ends_with(".pt.trace.json.gz");
}

/// First impression of a file that is named like a trace.
enum class Look : std::uint8_t {
  trace,
  other_json,
  unreadable,  ///< empty, truncated, not JSON: a damaged trace, judging by its name
};

Look look_at_file(const std::string& path) {
  Result<std::unique_ptr<io::ByteSource>> file = io::open_file(path);
  if (!file.ok()) return Look::unreadable;
  Result<std::unique_ptr<io::ByteSource>> source = io::decompressed(*std::move(file));
  if (!source.ok()) return Look::unreadable;
  const Result<std::string> start = io::peek(*source, kLookedAt);
  if (!start.ok()) return Look::unreadable;
  std::string_view text = *start;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return Look::unreadable;
  constexpr std::string_view kScalarStarts = "\"-0123456789tfn";
  if (kScalarStarts.find(text[first]) != std::string_view::npos) {
    // A text that only begins like `true` or `null`, such as a log, is not JSON.
    const bool is_word = text[first] >= 'a';
    const std::string_view rest = text.substr(first);
    const bool is_json = !is_word || rest.starts_with("true") || rest.starts_with("false") ||
                         rest.starts_with("null");
    return is_json ? Look::other_json : Look::unreadable;
  }
  if (text[first] != '{' && text[first] != '[') return Look::unreadable;
  // With thousands of ranks, Kineto writes a long `distributedInfo` before the events.
  constexpr std::array<std::string_view, 3> kSigns = {"\"traceEvents\"", "\"ph\"",
                                                      "\"distributedInfo\""};
  const bool is_trace = std::any_of(kSigns.begin(), kSigns.end(), [&](std::string_view sign) {
    return text.find(sign) != std::string_view::npos;
  });
  return is_trace ? Look::trace : Look::other_json;
}

/// The matches of a pattern, in natural order.
std::vector<std::string> matches_of(const std::string& pattern) {
  std::vector<std::string> matches;
  glob_t found = {};
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
    matches.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  std::sort(matches.begin(), matches.end(), in_natural_order);
  return matches;
}

class InputSearch {
 public:
  InputSearch(const std::string& log_directory, Wanted wanted)
      : log_directory_(log_directory.empty() ? fs::path() : real_path(log_directory)),
        wanted_(wanted) {}

  void add(const std::string& named) {
    std::error_code error;
    if (named == "-") {
      take(named, named, "stdin");
      return;
    }
    const bool there = fs::exists(fs::symlink_status(named, error));
    if (there || named.find_first_of("*?[") == std::string::npos) {
      add_path(named);
      return;
    }
    bool any = false;
    for (const std::string& match : matches_of(named)) {
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
    } else {
      take(path, real_path(path).string(), run_of_folder(absolute_path(path).parent_path()));
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
    }
    if (!any_found_) {
      const std::string what = wanted_ == Wanted::traces ? "traces" : "partials (`.tbp`)";
      refuse(named, "contains no " + what + "; name a directory or files that do");
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
        look_at(entry.path, folder.real / name, folder.run);
      }
    }
    std::reverse(to_do.begin() + static_cast<std::ptrdiff_t>(first), to_do.end());
  }

  /// `link`: its path, with the real path and the run of the folder that contains it.
  void follow(const Folder& link, std::vector<Folder>& to_do) {
    std::error_code error;
    const fs::path real = real_path(link.path);
    if (fs::is_regular_file(link.path, error)) {
      look_at(link.path, real, link.run);
    } else if (fs::is_directory(link.path, error) && !is_within(link.real, real)) {
      to_do.push_back({link.path, real, run_in(link.run, link.path.filename())});
    }
  }

  static std::string run_in(const std::string& run, const fs::path& name) {
    return run + "/" + inputs::safe_name(name.string());
  }

  void look_at(const fs::path& path, const fs::path& real, const std::string& run) {
    const std::string name = path.filename().string();
    if (wanted_ == Wanted::partials) {
      if (!name.ends_with(".tbp")) return;
      any_found_ = true;
      take(path.string(), real.string(), run);
      return;
    }
    if (!has_traces_name(name)) return;
    const auto known = is_taken_.find(real.string());
    bool takes = known != is_taken_.end() && known->second;
    if (known == is_taken_.end()) {
      const Look look = look_at_file(path.string());
      // The reader reports damaged files. Unreadable hidden files are not taken for traces.
      takes = look == Look::trace || (look == Look::unreadable && !name.starts_with('.')) ||
              (look == Look::other_json && says_trace(name));
    }
    if (takes) {
      any_found_ = true;
      take(path.string(), real.string(), run);
    } else if (known == is_taken_.end()) {
      is_taken_[real.string()] = false;
      inputs_.passed_over.push_back(path.string());
    }
  }

  const fs::path log_directory_;
  const Wanted wanted_;
  Inputs inputs_;
  std::map<std::string, bool> is_taken_;  // by real path, for files examined so far
  // For the folder that is being searched:
  std::set<std::string> searched_;
  std::deque<Folder> links_;
  bool any_found_ = false;
};

}  // namespace

Inputs find_inputs(const std::vector<std::string>& named, const std::string& log_directory,
                   Wanted wanted) {
  InputSearch search(log_directory, wanted);
  for (const std::string& name : named) search.add(name);
  return std::move(search).inputs();
}

}  // namespace tbtrace::inputs
