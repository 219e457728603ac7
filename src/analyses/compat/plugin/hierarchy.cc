#include "analyses/compat/plugin/hierarchy.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analyses/attribution/lightning.h"
#include "analyses/compat/plugin/launches.h"

namespace tbtrace::analyses {
namespace {

constexpr std::string_view kModuleType = "nn.Module: ";
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

std::string without(std::string_view text, std::string_view part) {
  std::string rest;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part)) {
    rest += text.substr(0, at);
    text.remove_prefix(at + part.size());
  }
  return rest.append(text);
}

/// `[pl][module]torch.nn.Linear: net.0` -> `net.0`. Without a type, the plugin drops a character.
std::string lightning_name(std::string_view text) {
  std::string name = without(text, kLightningModule);
  const std::size_t type = name.find(": ");
  if (type != std::string::npos) return name.substr(type + 2);
  std::size_t first = name.empty() ? 0 : 1;
  while (first < name.size() && (static_cast<unsigned char>(name[first]) & 0xC0) == 0x80) ++first;
  return name.substr(first);
}

/// Frames and modules by `Python id`, tied by their ids alone: not by threads or times.
class PythonFrames {
 public:
  PythonFrames(const Trace& trace, const PluginModuleNames& names) : trace_(trace), names_(names) {
    for (const EventId event : plugin_order(trace)) {
      if (trace.string(trace.category(event).name) == "python_function") add(event);
    }
  }

  /// Modules in the order in which the plugin meets them; `parent` is kNone for an outermost one.
  struct Found {
    std::size_t frame;
    std::size_t parent;
  };

  /// From each frame without children upwards, until a module that was seen.
  std::vector<Found> modules() {
    std::vector<Found> found;
    std::vector<std::size_t> place(frames_.size(), kNone);  // in found
    for (std::size_t leaf = 0; leaf < frames_.size(); ++leaf) {
      if (frames_[leaf].has_children) continue;
      std::size_t inner = kNone;
      for (std::size_t module = module_from(leaf); module != kNone;) {
        if (inner != kNone) found[place[inner]].parent = module;
        if (place[module] != kNone) break;
        place[module] = found.size();
        found.push_back({module, kNone});
        inner = module;
        module = module_from(frames_[module].parent);
      }
    }
    return found;
  }

  EventId event(std::size_t frame) const { return frames_[frame].event; }
  bool has_id(std::size_t frame) const { return frames_[frame].has_id; }
  std::size_t size() const { return frames_.size(); }

 private:
  struct Frame {
    EventId event = EventId::none;  // none: only named as a parent
    bool has_id = false;
    bool is_module = false;
    bool has_children = false;
    std::size_t parent = kNone;
    // The innermost module from here upwards; known once is_settled.
    bool is_settled = false;
    bool is_on_path = false;
    std::size_t module = kNone;
  };

  /// A missing id is a value like any other. Of frames with the same id the last one counts, but
  /// all have parents.
  void add(EventId event) {
    const std::size_t frame = number(trace_.argument(Argument::python_id).integer(event));
    const std::size_t parent = number(trace_.argument(Argument::python_parent_id).integer(event));
    frames_[parent].has_children = true;
    frames_[frame].event = event;
    frames_[frame].is_module = names_.is_module(event);
    frames_[frame].parent = parent;
  }

  std::size_t number(std::optional<std::int64_t> id) {
    const std::size_t next = frames_.size();
    std::size_t& number = id ? numbers_.try_emplace(*id, next).first->second : without_id_;
    if (!id && number == kNone) number = next;
    if (number == next) frames_.emplace_back().has_id = id.has_value();
    return number;
  }

  /// The innermost module from a frame upwards, itself included; kNone also if the frames above are
  /// a circle.
  std::size_t module_from(std::size_t frame) {
    std::vector<std::size_t> path;
    std::size_t module = kNone;
    for (std::size_t up = frame; up != kNone; up = frames_[up].parent) {
      Frame& here = frames_[up];
      if (here.is_settled || here.is_module) {
        module = here.is_settled ? here.module : up;
        break;
      }
      if (here.is_on_path || here.event == EventId::none) break;
      here.is_on_path = true;
      path.push_back(up);
    }
    for (const std::size_t passed : path) {
      frames_[passed].is_settled = true;
      frames_[passed].module = module;
    }
    return module;
  }

  const Trace& trace_;
  const PluginModuleNames& names_;
  std::vector<Frame> frames_;
  std::unordered_map<std::int64_t, std::size_t> numbers_;
  std::size_t without_id_ = kNone;
};

/// All that outermost modules contain, parents before children. Modules in a circle are not there.
std::vector<std::size_t> contained(const PluginHierarchy& hierarchy) {
  std::vector<std::size_t> order = hierarchy.roots;
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (const std::size_t child : hierarchy.modules[order[at]].children) order.push_back(child);
  }
  return order;
}

/// Keeps the first of the outermost modules that are equal with all that is in them.
void drop_repeated_roots(PluginHierarchy& hierarchy) {
  const std::vector<std::size_t> order = contained(hierarchy);
  std::map<std::pair<PluginModuleKey, std::vector<std::size_t>>, std::size_t> contents;
  std::vector<std::size_t> content_of(hierarchy.modules.size(), kNone);
  for (std::size_t left = order.size(); left-- > 0;) {
    const PluginHierarchy::Module& module = hierarchy.modules[order[left]];
    std::vector<std::size_t> inside;
    inside.reserve(module.children.size());
    for (const std::size_t child : module.children) inside.push_back(content_of[child]);
    const std::size_t next = contents.size();
    content_of[order[left]] =
        contents.try_emplace({module.key, std::move(inside)}, next).first->second;
  }
  std::vector<bool> seen(contents.size(), false);
  std::erase_if(hierarchy.roots, [&](std::size_t root) {
    const bool repeated = seen[content_of[root]];
    seen[content_of[root]] = true;
    return repeated;
  });
}

std::optional<PluginHierarchy> from_python_ids(const Trace& trace, PluginModuleNames& names) {
  PythonFrames frames(trace, names);
  const std::vector<PythonFrames::Found> found = frames.modules();
  PluginHierarchy hierarchy;
  std::vector<std::size_t> module_of(frames.size(), kNone);
  std::size_t without_id = kNone;
  for (std::size_t number = 0; number < found.size(); ++number) {
    hierarchy.modules.push_back({names.key(frames.event(found[number].frame))});
    module_of[found[number].frame] = number;
    if (!frames.has_id(found[number].frame)) without_id = number;
  }
  for (std::size_t number = 0; number < found.size(); ++number) {
    const std::size_t above = found[number].parent;
    const std::size_t parent = above == kNone ? kNone : module_of[above];
    // For the plugin, a missing id above a module is the same as no module above.
    if (parent == kNone || parent == without_id) {
      hierarchy.roots.push_back(number);
    } else {
      hierarchy.modules[parent].children.push_back(number);
    }
  }
  const std::vector<std::size_t> order = contained(hierarchy);
  // The outermost modules are its children, so that the plugin goes round in circles.
  if (std::find(order.begin(), order.end(), without_id) != order.end()) return std::nullopt;
  drop_repeated_roots(hierarchy);
  return hierarchy;
}

/// `net.0` is in `net`.
PluginHierarchy from_dotted_names(const Trace& trace, PluginModuleNames& names) {
  PluginHierarchy hierarchy;
  std::map<std::string_view, std::size_t> module_of;
  std::vector<bool> seen;
  std::vector<std::size_t> order;
  for (const EventId event : plugin_order(trace)) {
    if (!names.is_module(event)) continue;
    const std::size_t name = names.key(event).name;
    seen.resize(std::max(seen.size(), name + 1), false);
    if (!seen[name]) order.push_back(name);
    seen[name] = true;
  }
  for (const std::size_t name : order) {
    module_of[names.name(name)] = hierarchy.modules.size();
    hierarchy.modules.push_back({{name, 0}});
  }
  for (std::size_t number = 0; number < order.size(); ++number) {
    const std::string_view name = names.name(order[number]);
    const std::size_t dot = name.rfind('.');
    const auto parent =
        dot == std::string_view::npos ? module_of.end() : module_of.find(name.substr(0, dot));
    if (parent == module_of.end()) {
      hierarchy.roots.push_back(number);
    } else {
      hierarchy.modules[parent->second].children.push_back(number);
    }
  }
  return hierarchy;
}

}  // namespace

PluginModuleNames::PluginModuleNames(const Trace& trace)
    : trace_(trace), lightning_(analyses::is_lightning(trace)) {}

bool PluginModuleNames::is_module(EventId event) const {
  if (lightning_) {
    return trace_.kind(event) == EventKind::cpu_op &&
           trace_.name(event).starts_with(kLightningModule);
  }
  return trace_.events().is_module(event) &&
         trace_.string(trace_.category(event).name) == "python_function";
}

PluginModuleKey PluginModuleNames::key(EventId event) {
  const auto [known, added] = of_text_.try_emplace(trace_.events().name(event), 0);
  if (added) {
    known->second =
        number(lightning_ ? lightning_name(trace_.name(event)) : std::string(trace_.name(event)));
  }
  const std::optional<std::int64_t> id = trace_.argument(Argument::python_module_id).integer(event);
  return {known->second, lightning_ ? 0 : id.value_or(0)};
}

std::size_t PluginModuleNames::number(std::string name) {
  const auto [known, added] = numbers_.try_emplace(name, names_.size());
  if (added) names_.push_back(std::move(name));
  return known->second;
}

std::string PluginModuleNames::shown(std::size_t number) const {
  return without(names_[number], kModuleType);
}

std::optional<PluginHierarchy> plugin_hierarchy(const Trace& trace, PluginModuleNames& names) {
  if (names.is_lightning()) return from_dotted_names(trace, names);
  return from_python_ids(trace, names);
}

}  // namespace tbtrace::analyses
