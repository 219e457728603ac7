#include "analyses/attribution/own_code.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyses/attribution/call_stack_frames.h"
#include "analyses/attribution/distributions.h"
#include "analyses/attribution/standard_library.h"
#include "symbols/names/code_place.h"
#include "trace/call_tree.h"

namespace tbtrace::analyses {
namespace {

constexpr std::string_view kModule = "<module>";

/// The lines of a sorted text that are not comments.
std::vector<std::string_view> names_in(std::string_view text) {
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string_view line = text.substr(at, end - at);
    if (!line.starts_with('#')) names.push_back(line);
    at = end + 1;
  }
  return names;
}

bool has(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::binary_search(names, name);
}

/// Whether one of the names is the path or one of the folders that it begins with, up to
/// kMostParts of them.
bool begins_with_one_of(std::span<const std::string_view> names, std::string_view path) {
  constexpr int kMostParts = 3;
  std::size_t end = 0;
  for (int part = 0; part < kMostParts; ++part) {
    end = path.find('/', end);
    if (end == std::string_view::npos) return has(names, path);
    if (has(names, path.substr(0, ++end))) return true;
  }
  return false;
}

/// Windows has `\` between the parts of a path.
std::string with_slashes(std::string_view path) {
  std::string text(path);
  std::ranges::replace(text, '\\', '/');
  return text;
}

bool is_absolute(std::string_view path) {
  return path.starts_with('/') || (path.size() > 2 && path[1] == ':' && path[2] == '/');
}

bool is_digits(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

/// `python3`, `python3.11`, `python3.13t`, `pypy3.9`.
bool is_versioned_python(std::string_view part) {
  for (const std::string_view name : {"python3", "pypy3"}) {
    if (!part.starts_with(name)) continue;
    part.remove_prefix(name.size());
    if (part.empty()) return true;
    if (!part.starts_with('.')) return false;
    part.remove_prefix(1);
    if (part.ends_with('t')) part.remove_suffix(1);
    return !part.empty() && is_digits(part);
  }
  return false;
}

/// `Python311`, `Python311-32`, `miniconda3`, `envs`: folders that have Python's `Lib` on Windows.
bool has_lib_of_python(std::string_view part) {
  for (const std::string_view name :
       {"anaconda3", "miniconda3", "miniforge3", "mambaforge", "conda", "envs"}) {
    if (equals_ignoring_case(part, name)) return true;
  }
  constexpr std::string_view kPython = "python3";
  return part.size() >= kPython.size() &&
         equals_ignoring_case(part.substr(0, kPython.size()), kPython);
}

bool is_package_folder(std::string_view part) {
  return part == "site-packages" || part == "dist-packages";
}

/// Headers of C++ libraries, which C++ programs have in their call stacks.
bool is_library_header(std::string_view around, std::string_view part) {
  constexpr std::array kLibraries = {"c++", "torch", "ATen", "c10", "bits"};
  return around == "include" && std::ranges::find(kLibraries, part) != kLibraries.end();
}

/// Written by torch.compile or Triton.
bool is_generated(std::string_view part) {
  return part.starts_with("torchinductor_") || part == ".triton";
}

/// Whether the folders of a path are those of installed packages, of Python, or of generated code.
bool is_in_library_folder(std::string_view path) {
  std::string_view around;       // the folder before
  bool is_below_python = false;  // one of the folders before has Python's `Lib`
  for (std::size_t from = 0, end = 0; (end = path.find('/', from)) != std::string_view::npos;
       from = end + 1) {
    const std::string_view part = path.substr(from, end - from);
    const bool is_lib = part == "Lib" && is_below_python;
    if (is_package_folder(part) || is_generated(part) || is_library_header(around, part)) {
      return true;
    }
    if (is_lib || (around.starts_with("lib") && is_versioned_python(part))) return true;
    is_below_python = is_below_python || has_lib_of_python(part);
    around = part;
  }
  return false;
}

/// Packages that run a program of the user's in their own process.
constexpr std::array<std::string_view, 16> kRunners = {
    "IPython/",   "_pytest/",       "accelerate/",      "coverage/", "debugpy/", "deepspeed/",
    "ipykernel/", "line_profiler/", "memory_profiler/", "pluggy/",   "pytest/",  "ray/",
    "torch/",     "tornado/",       "traitlets/",       "viztracer/"};

/// Whether a frame around the main script is there only to run it.
bool only_runs_programs(std::string_view path) {
  if (path.empty() || path == "<frozen runpy>" || path == "<string>") return true;  // or built in
  if (path == "ipykernel_launcher.py" || path == "pydevd.py") return true;
  for (const std::string_view name : {"runpy.py", "pdb.py", "bdb.py", "cProfile.py", "timeit.py"}) {
    if (path == name || path.ends_with("/" + std::string(name))) return true;
  }
  return std::ranges::any_of(kRunners, [&](std::string_view name) {
    return path.starts_with(name) ||
           path.find("-packages/" + std::string(name)) != std::string_view::npos;
  });
}

struct CodeFrame {
  std::string file;  ///< with `/`; empty if the frame has none
  bool is_script = false;
};

CodeFrame code_frame(std::string_view text) {
  const CodePlace place = code_place(text);
  return {with_slashes(place.file), place.function == kModule};
}

/// The main script, if it is among frames from the outermost one on.
class ScriptSearch {
 public:
  /// Whether to go on.
  bool add(std::string_view text) {
    CodeFrame frame = code_frame(text);
    if (only_runs_programs(frame.file)) return true;
    if (frame.is_script) script_ = std::move(frame.file);
    return false;
  }
  const std::string& script() const { return script_; }

 private:
  std::string script_;
};

}  // namespace

std::span<const std::string_view> standard_library_names() {
  static const std::vector<std::string_view> kNames = names_in(kStandardLibrary);
  return kNames;
}

std::span<const std::string_view> distribution_names() {
  static const std::vector<std::string_view> kNames = names_in(kDistributions);
  return kNames;
}

bool is_standard_library(std::string_view path) {
  return begins_with_one_of(standard_library_names(), path);
}

bool is_distribution(std::string_view path) {
  return begins_with_one_of(distribution_names(), path);
}

bool is_library_path(std::string_view file) {
  const std::string path = with_slashes(file);
  if (path.starts_with("<frozen ") || path == "<string>") return true;
  if (is_in_library_folder(path)) return true;
  return !is_absolute(path) && (is_standard_library(path) || is_distribution(path));
}

OwnCode::OwnCode(const Trace& trace) {
  // Of frames that are ranges.
  const CallTree& tree = call_tree_of(trace);
  std::unordered_map<StringId, bool> is_script;  // by name
  for (const EventId range : tree.ranges()) {
    if (!trace.events().is_python_frame(range)) continue;
    const auto [entry, added] = is_script.try_emplace(trace.events().name(range), false);
    if (added) entry->second = code_frame(trace.name(range)).is_script;
    if (!entry->second) continue;
    std::vector<EventId> way = {range};
    while (tree.parent(way.back()) != EventId::none) way.push_back(tree.parent(way.back()));
    ScriptSearch search;
    for (std::size_t frame = way.size(); frame-- > 0;) {
      const bool is_frame = trace.events().is_python_frame(way[frame]);
      if (is_frame && !search.add(trace.name(way[frame]))) break;
    }
    add_program(search.script());
  }
  // Of call stacks.
  const ArgumentColumn& stacks = trace.argument(Argument::call_stack);
  std::unordered_map<StringId, bool> known;
  stacks.for_each([&](EventId event) {
    if (!known.try_emplace(stacks.text(event), true).second) return;
    const auto frames = call_stack_frames(trace.string(stacks.text(event)));
    ScriptSearch search;
    for (std::size_t frame = frames.size(); frame-- > 0;) {
      if (!search.add(frames[frame])) break;
    }
    add_program(search.script());
  });
}

void OwnCode::add_program(std::string_view script) {
  if (script.empty() || !scripts_.emplace(script).second) return;
  // The package: the first folder of a path that begins with it, or the one in site-packages.
  std::size_t start = 0;
  if (is_absolute(script)) {
    const std::size_t packages = script.rfind("-packages/");
    if (packages == std::string_view::npos) return;  // such a path shows whose it is
    start = script.find('/', packages) + 1;
  }
  const std::size_t end = script.find('/', start);
  if (end != std::string_view::npos) packages_.emplace(script.substr(0, end + 1));
}

bool OwnCode::is_library(std::string_view file) const {
  const std::string path = with_slashes(file);
  if (scripts_.contains(path)) return false;
  const bool is_programs = std::ranges::any_of(
      packages_, [&](const std::string& package) { return path.starts_with(package); });
  return !is_programs && is_library_path(path);
}

}  // namespace tbtrace::analyses
