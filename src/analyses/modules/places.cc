#include "analyses/modules/places.h"

#include <utility>

#include "analyses/attribution/lightning.h"

namespace tbtrace::analyses {
namespace {

constexpr std::string_view kFrame = "nn.Module: ";
constexpr std::string_view kGraphLabel = "CUDA graph";  // in place of a class
// Of a module hierarchy. Source: torch/csrc/jit/ir/scope.cpp.
constexpr std::string_view kOutermost = "TOP";
constexpr std::string_view kOwn = "SELF";

/// The class of frames that call a scripted model.
bool is_script(std::string_view type) {
  return type == "RecursiveScriptModule" || type == "ScriptModule" ||
         type == "TopLevelTracedModule";
}

/// `Conv2d` of `Conv2d_5`.
std::string_view class_of(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  const bool is_numbered =
      end != std::string_view::npos && end > 0 && end + 1 < name.size() && name[end] == '_';
  return is_numbered ? name.substr(0, end) : name;
}

/// `Conv2d` of `torch.nn.modules.conv.Conv2d`.
std::string_view after_last_dot(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

/// One module of a hierarchy: `conv(Conv2d)::forward`.
struct Level {
  std::string_view attribute;
  std::string_view type;  ///< empty if the text is not of this form
};

Level level_of(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.find(')', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return {text, {}};
  return {text.substr(0, open), text.substr(open + 1, close - open - 1)};
}

/// Where the first level of a hierarchy ends: at the next dot outside of parentheses.
std::size_t end_of_level(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && depth > 0) --depth;
    if (text[at] == '.' && depth == 0) return at;
  }
  return text.size();
}

std::int64_t child_key(Place around, std::uint32_t name) {
  return static_cast<std::int64_t>(std::uint64_t{around} << 32 | name);
}

}  // namespace

ModulePlaces::ModulePlaces(const Trace& trace)
    : trace_(trace),
      has_hierarchies_(!trace.argument(Argument::module_hierarchy).empty()),
      is_lightning_(is_lightning(trace)) {}

bool ModulePlaces::is_call(EventId range) const {
  if (trace_.events().is_module(range)) return true;
  return is_lightning_ && trace_.name(range).starts_with(kLightningModule);
}

std::uint32_t ModulePlaces::number_of(Name name) {
  const auto [entry, added] = name_numbers_.try_emplace(
      {name.text, name.is_path, name.of_hierarchy}, static_cast<std::uint32_t>(names_.size()));
  if (added) names_.push_back(std::move(name));
  return entry->second;
}

Place ModulePlaces::child(Place around, std::uint32_t name, std::string_view type) {
  if (modules_[around].level >= kMostLevels) return around;
  const auto [place, added] =
      children_.insert(child_key(around, name), static_cast<std::uint32_t>(modules_.size()));
  if (added) modules_.push_back({around, name, modules_[around].level + 1, type});
  return place;
}

Place ModulePlaces::called(Place around, std::uint32_t name, std::string_view type,
                           bool is_backward) {
  for (Place above = around; is_backward; above = modules_[above].parent) {
    if (above != StackTree::kRoot && modules_[above].name == name) return above;
    const std::uint32_t known = children_.find(child_key(above, name));
    if (known != IdMap::kNone) return known;
    if (above == StackTree::kRoot) break;
  }
  return child(around, name, type);
}

std::string ModulePlaces::path(Place place) const {
  std::vector<std::string_view> parts;
  for (; place != StackTree::kRoot; place = modules_[place].parent) {
    const Name& name = names_[modules_[place].name];
    parts.push_back(name.text);
    if (name.is_path) break;
  }
  std::string path;
  for (std::size_t part = parts.size(); part-- > 0;) {
    if (!path.empty()) path += '.';
    path += parts[part];
  }
  return path;
}

/// A path that goes on from the module around it is a name in that module.
std::uint32_t ModulePlaces::number_of_path(Place around, std::string_view path) {
  if (around == StackTree::kRoot) return number_of({std::string(path), false, false});
  const std::string above = this->path(around) + '.';
  if (path.size() > above.size() && path.starts_with(above)) {
    return number_of({std::string(path.substr(above.size())), false, false});
  }
  return number_of({std::string(path), true, false});
}

Place ModulePlaces::of_frame(Place around, EventId range, bool is_backward) {
  std::string_view name = trace_.name(range);
  if (name.starts_with(kFrame)) name.remove_prefix(kFrame.size());
  const std::string_view path = trace_.argument_text(range, Argument::module_path);
  const std::uint32_t number =
      path.empty() ? number_of({std::string(name), false, false}) : number_of_path(around, path);
  return called(around, number, class_of(name), is_backward);
}

Place ModulePlaces::of_mark(Place around, std::string_view mark, bool is_backward) {
  const std::size_t colon = mark.find(": ");
  const std::uint32_t number = colon == std::string_view::npos
                                   ? number_of({std::string(mark), false, false})
                                   : number_of_path(around, mark.substr(colon + 2));
  return called(around, number, after_last_dot(mark.substr(0, colon)), is_backward);
}

Place ModulePlaces::of_hierarchy(Place around, std::string_view text) {
  // A hierarchy is that of the operator alone, from the outermost scripted module on.
  Place outermost = StackTree::kRoot;  // that of the hierarchy around it
  while (names_[modules_[around].name].of_hierarchy) {
    outermost = around;
    around = modules_[around].parent;
  }
  const bool is_framed = is_script(class_of(names_[modules_[around].name].text));
  for (bool is_first = true; !text.empty();) {
    const std::size_t end = end_of_level(text);
    const Level level = level_of(text.substr(0, end));
    text.remove_prefix(end < text.size() ? end + 1 : end);
    const bool is_top = is_first && level.attribute == kOutermost;
    if (level.attribute == kOwn && !is_first) continue;  // a method that a module calls itself
    if (level.type.empty() && !is_top) continue;         // a function
    if (is_top && is_framed) {
      // The frame around it is the call of the outermost module, and says no class.
      if (!level.type.empty()) modules_[around].type = level.type;
    } else if (level.type.empty()) {
      // A graph that the executor made of a part of the module around it, such as its forward pass.
      if (outermost != StackTree::kRoot) around = outermost;
    } else {
      const std::string_view name = is_first ? level.type : level.attribute;
      around = child(around, number_of({std::string(name), false, true}), level.type);
    }
    is_first = false;
  }
  return around;
}

Place ModulePlaces::of_label(std::string_view label) {
  return child(StackTree::kRoot, number_of({std::string(label), false, false}), kGraphLabel);
}

Place ModulePlaces::place_in(Place around, EventId range, bool is_backward) {
  if (trace_.events().is_module(range)) return of_frame(around, range, is_backward);
  if (has_hierarchies_) {
    const std::string_view text = trace_.argument_text(range, Argument::module_hierarchy);
    if (!text.empty()) return of_hierarchy(around, text);
  }
  const std::string_view name = trace_.name(range);
  if (!is_lightning_ || !name.starts_with(kLightningModule)) return around;
  return of_mark(around, name.substr(kLightningModule.size()), is_backward);
}

}  // namespace tbtrace::analyses
