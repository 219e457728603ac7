#include "snapshots/origins.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyses/attribution/own_code.h"

namespace tbtrace::snapshots {
namespace {

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

template <std::size_t kCount>
bool holds_one_of(std::string_view text, const std::array<std::string_view, kCount>& parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return holds(text, part); });
}

bool is_python(std::string_view file) { return file.ends_with(".py") || file.starts_with('<'); }

constexpr auto kNativeSuffixes = std::to_array<std::string_view>(
    {".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hpp", ".so"});
/// Parts of paths of PyTorch, of Python and of the system.
constexpr auto kNativeLibraries = std::to_array<std::string_view>(
    {"torch/csrc", "/torch/", "aten/src", "/ATen/", "c10/", "pybind11", "/usr/", "/lib/", "Python/",
     "Objects/", "Modules/", "Programs/", "csu/", "sysdeps/", "nptl/"});

bool is_native(std::string_view file) {
  return std::ranges::any_of(kNativeSuffixes,
                             [&](std::string_view suffix) { return file.ends_with(suffix); });
}

bool is_own_file(std::string_view file) {
  if (file.empty() || file.starts_with('<') || file.starts_with("??")) return false;
  if (is_native(file)) return !holds_one_of(file, kNativeLibraries);
  return !analyses::is_library_path(file);
}

/// The path of a Python file of torch below the package's folder; empty for others.
std::string_view path_in_torch(std::string_view file) {
  constexpr std::string_view kFolder = "/torch/";
  if (!is_python(file)) return {};
  if (const std::size_t at = file.rfind(kFolder); at != std::string_view::npos) {
    return file.substr(at + kFolder.size());
  }
  return file.starts_with(kFolder.substr(1)) ? file.substr(kFolder.size() - 1) : "";
}

/// What a Python frame of torch shows.
Doing doing_in_torch(std::string_view path, std::string_view name) {
  if (path.starts_with("optim/")) return Doing::optimizer;
  if (path.starts_with("utils/data/")) return Doing::loader;
  if (path == "utils/checkpoint.py") return Doing::forward;
  if (path.starts_with("autograd/") && holds(name, "backward")) return Doing::backward;
  if (path.starts_with("distributed/distributed_c10d")) return Doing::communication;
  if (path.starts_with("distributed/") && holds(path, "fsdp/")) {
    const bool is_parameter = holds(name, "unshard") || holds(name, "all_gather_outputs");
    if (is_parameter && !holds(name, "grad")) return Doing::unsharding;
    return holds(name, "all_gather") ? Doing::communication : Doing::unknown;
  }
  const bool is_made = name == "__init__" || name == "reset_parameters";
  // Buckets of gradients.
  if (path.starts_with("nn/parallel/") && is_made) return Doing::communication;
  if (path.starts_with("nn/") && is_made) return Doing::setup;
  if (path != "nn/modules/module.py") return Doing::unknown;
  if (name.ends_with("_call_impl")) return Doing::forward;
  return name == "_apply" || name == "to" || name == "cuda" ? Doing::setup : Doing::unknown;
}

/// What a C++ function shows.
Doing doing_in_native(std::string_view name) {
  constexpr auto kWorkspaces = std::to_array<std::string_view>(
      {"getCurrentCUDABlasHandle", "getCUDABlasLtWorkspace", "cublasCommonArgs",
       "parseChosenWorkspaceSize", "cudnn::Workspace", "getNewWorkspace"});
  if (holds_one_of(name, kWorkspaces)) return Doing::workspace;
  if (holds(name, "AccumulateGrad")) return Doing::gradient;
  if (holds(name, "ProcessGroupNCCL") || holds(name, "c10d::Reducer")) return Doing::communication;
  if (holds(name, "autograd::Engine") || holds(name, "torch::autograd::Node::operator()")) {
    return Doing::backward;
  }
  return Doing::unknown;
}

/// Frames of a stack from the innermost one outwards: the first that shows something decides.
class Decision {
 public:
  void add(std::string_view file, std::string_view name) {
    const std::string_view path = path_in_torch(file);
    Doing doing = Doing::unknown;
    if (!path.empty()) {
      doing = doing_in_torch(path, name);
      // `step` calls nothing outside of torch but its closure, which evaluates the model.
      if (doing == Doing::optimizer && calls_others_ && name == "step" &&
          path != "optim/optimizer.py") {
        doing = Doing::forward;
      }
    } else if (!is_python(file)) {
      doing = doing_in_native(name);
    }
    if (is_python(file) && path != "utils/_contextlib.py") calls_others_ = path.empty();
    if (signs_.doing == Doing::unknown) signs_.doing = doing;
    // Checkpointed code runs again in the backward, also where the engine's frames are missing.
    signs_.in_backward =
        signs_.in_backward || doing == Doing::backward || doing == Doing::gradient ||
        (path == "utils/checkpoint.py" &&
         (holds(name, "unpack") || holds(name, "recompute") || name == "backward"));
  }

  const StackSigns& signs() const { return signs_; }

 private:
  StackSigns signs_;
  bool calls_others_ = false;  // the Python frame further in is not of torch
};

/// The folders that both paths begin with, with the last `/`.
std::string_view common_folder(std::string_view one, std::string_view two) {
  const auto end = std::ranges::mismatch(one, two).in1;
  std::string_view common = one.substr(0, static_cast<std::size_t>(end - one.begin()));
  const std::size_t slash = common.find_last_of("/\\");
  return common.substr(0, slash == std::string_view::npos ? 0 : slash + 1);
}

}  // namespace

Origins::Origins(const SnapshotData& data) : data_(data), own_files_(data.texts.size(), -1) {
  std::optional<std::string_view> folder;
  for (const Frame& frame : data.frames) {
    const std::string_view file = data.texts[frame.file];
    const bool is_absolute = file.starts_with('/') || (file.size() > 2 && file[1] == ':');
    if (!is_absolute || !is_python(file) || !is_own(frame)) continue;
    folder = common_folder(file, folder.value_or(file));
  }
  folder_ = folder.value_or("");
  lines_.resize(data.stack_count());
  signs_.resize(data.stack_count());
}

void Origins::set_folder(std::string folder) {
  folder_ = std::move(folder);
  std::ranges::fill(lines_, std::nullopt);
}

bool Origins::is_own(const Frame& frame) {
  std::int8_t& known = own_files_[frame.file];
  if (known < 0) known = is_own_file(data_.texts[frame.file]) ? 1 : 0;
  return known == 1 && frame.line > 0;
}

std::string_view Origins::shortened(std::string_view file) const {
  if (!folder_.empty() && file.starts_with(folder_)) file.remove_prefix(folder_.size());
  return file;
}

std::string Origins::frame_text(std::uint32_t number) const {
  const Frame& frame = data_.frames[number];
  const std::string_view name = data_.texts[frame.name];
  std::string text(shortened(data_.texts[frame.file]));
  if (text.empty() || text.starts_with("??")) return std::string(name);
  if (frame.line > 0) text += "(" + std::to_string(frame.line) + ")";
  return text + ": " + std::string(name);
}

const std::string& Origins::own_line(std::uint32_t stack) {
  std::optional<std::string>& line = lines_[stack];
  if (!line) {
    line.emplace();
    for (const std::uint32_t frame : data_.stack(stack)) {
      if (!is_own(data_.frames[frame])) continue;
      line = frame_text(frame);
      break;
    }
  }
  return *line;
}

const StackSigns& Origins::signs(std::uint32_t stack) {
  std::optional<StackSigns>& signs = signs_[stack];
  if (!signs) {
    Decision decision;
    for (const std::uint32_t number : data_.stack(stack)) {
      const Frame& frame = data_.frames[number];
      decision.add(data_.texts[frame.file], data_.texts[frame.name]);
    }
    signs = decision.signs();
  }
  return *signs;
}

std::string Origins::stack_text(std::uint32_t stack) const {
  std::string text;
  for (const std::uint32_t frame : data_.stack(stack)) {
    text += (text.empty() ? "" : " < ") + frame_text(frame);
  }
  return text;
}

}  // namespace tbtrace::snapshots
