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

/// What one frame shows.
void add_signs(std::string_view file, std::string_view name, StackSigns& signs) {
  if (is_python(file)) {
    const bool is_torch = holds(file, "torch/");
    if (!is_torch) return;
    const bool is_module = file.ends_with("torch/nn/modules/module.py");
    signs.in_optimizer = signs.in_optimizer || holds(file, "torch/optim/");
    signs.in_loader = signs.in_loader || holds(file, "torch/utils/data/");
    signs.in_backward =
        signs.in_backward || (holds(file, "torch/autograd/") && holds(name, "backward"));
    signs.in_forward = signs.in_forward || (is_module && name.ends_with("_call_impl"));
    signs.in_setup =
        signs.in_setup || (is_module && (name == "_apply" || name == "to" || name == "cuda")) ||
        (holds(file, "torch/nn/") && (name == "__init__" || name == "reset_parameters"));
    signs.in_collective = signs.in_collective || holds(file, "torch/distributed/distributed_c10d");
    return;
  }
  signs.accumulates_gradient = signs.accumulates_gradient || holds(name, "AccumulateGrad");
  signs.in_backward = signs.in_backward || holds(name, "autograd::Engine") ||
                      holds(name, "torch::autograd::Node::operator()");
  constexpr auto kWorkspaces = std::to_array<std::string_view>(
      {"getCurrentCUDABlasHandle", "getCUDABlasLtWorkspace", "cublasCommonArgs",
       "parseChosenWorkspaceSize", "cudnn::Workspace", "getNewWorkspace"});
  signs.in_workspace = signs.in_workspace || holds_one_of(name, kWorkspaces);
  signs.in_collective = signs.in_collective || holds(name, "ProcessGroupNCCL");
}

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
    signs.emplace();
    for (const std::uint32_t number : data_.stack(stack)) {
      const Frame& frame = data_.frames[number];
      add_signs(data_.texts[frame.file], data_.texts[frame.name], *signs);
    }
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
