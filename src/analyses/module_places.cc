#include "analyses/module_places.h"

#include "trace/lightning.h"

namespace tbtrace::analyses {
namespace {

constexpr std::string_view kFrame = "nn.Module: ";

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

}  // namespace

ModulePlaces::ModulePlaces(const Trace& trace)
    : trace_(trace),
      has_hierarchies_(!trace.argument(Argument::module_hierarchy).empty()),
      is_lightning_(is_lightning(trace)) {}

bool ModulePlaces::is_call(EventId range) const {
  if (trace_.events().is_module(range)) return true;
  return is_lightning_ && trace_.name(range).starts_with(kLightningModule);
}

Place ModulePlaces::child(Place around, std::string_view path, std::string_view type,
                          bool of_hierarchy) {
  std::string key = std::to_string(around) + ' ';
  key += path;
  const auto [entry, added] = numbers_.try_emplace(std::move(key), 0);
  if (added) {
    entry->second = static_cast<Place>(modules_.size());
    modules_.push_back({around, std::string(path), std::string(type), of_hierarchy});
  }
  return entry->second;
}

Place ModulePlaces::under(Place around, std::string_view name, std::string_view type,
                          bool of_hierarchy) {
  std::string path = modules_[around].path;
  if (!path.empty()) path += '.';
  path += name;
  return child(around, path, type, of_hierarchy);
}

Place ModulePlaces::of_frame(Place around, EventId range) {
  std::string_view name = trace_.name(range);
  if (name.starts_with(kFrame)) name.remove_prefix(kFrame.size());
  const std::string_view path = trace_.argument_text(range, Argument::module_path);
  return path.empty() ? under(around, name, class_of(name), false)
                      : child(around, path, class_of(name), false);
}

Place ModulePlaces::of_hierarchy(Place around, std::string_view text) {
  // A hierarchy is that of the operator alone, from the outermost scripted module on.
  while (modules_[around].of_hierarchy) around = modules_[around].parent;
  for (bool outermost = true; !text.empty();) {
    const std::size_t end = end_of_level(text);
    const Level level = level_of(text.substr(0, end));
    text.remove_prefix(end < text.size() ? end + 1 : end);
    if (level.type.empty()) continue;  // a function
    around = under(around, outermost ? level.type : level.attribute, level.type, true);
    outermost = false;
  }
  return around;
}

Place ModulePlaces::place_in(Place around, EventId range) {
  if (trace_.events().is_module(range)) return of_frame(around, range);
  if (has_hierarchies_) {
    const std::string_view text = trace_.argument_text(range, Argument::module_hierarchy);
    if (!text.empty()) return of_hierarchy(around, text);
  }
  if (!is_lightning_) return around;
  std::string_view name = trace_.name(range);
  if (!name.starts_with(kLightningModule)) return around;
  name.remove_prefix(kLightningModule.size());
  const std::size_t colon = name.find(": ");
  if (colon == std::string_view::npos) return under(around, name, after_last_dot(name), false);
  return child(around, name.substr(colon + 2), after_last_dot(name.substr(0, colon)), false);
}

}  // namespace tbtrace::analyses
