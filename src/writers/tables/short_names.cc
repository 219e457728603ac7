#include "writers/tables/short_names.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/utf8.h"
#include "symbols/names/code_place.h"
#include "symbols/names/function_name.h"

namespace tbtrace::writers {
namespace {

constexpr std::string_view kEllipsis = "\u2026";

/// A long name with access by character.
class LongName {
 public:
  explicit LongName(std::string_view name) : name_(name) {
    for (std::string_view rest = name; !rest.empty();) {
      starts_.push_back(name.size() - rest.size());
      rest.remove_prefix(std::max<std::size_t>(1, utf8_character_size(rest)));
    }
  }

  std::size_t length() const { return starts_.size(); }

  /// Characters from `begin` to before `end`.
  std::string_view part(std::size_t begin, std::size_t end) const {
    return std::string_view(name_).substr(start(begin), start(end) - start(begin));
  }

  std::size_t common_prefix(const LongName& other) const {
    const std::size_t most = std::min(length(), other.length());
    std::size_t same = 0;
    while (same < most && part(same, same + 1) == other.part(same, same + 1)) ++same;
    return same;
  }

 private:
  std::size_t start(std::size_t character) const {
    return character < length() ? starts_[character] : name_.size();
  }

  std::string name_;
  std::vector<std::size_t> starts_;
};

/// The beginning and the end.
std::string without_middle(const LongName& name, std::size_t length) {
  const std::size_t head = length / 2;
  const std::size_t tail = length - 1 - head;
  return std::string(name.part(0, head))
      .append(kEllipsis)
      .append(name.part(name.length() - tail, name.length()));
}

/// The beginning, and the part at `at`.
std::string with_part_at(const LongName& name, std::size_t at, std::size_t length) {
  const std::size_t head = length / 4;
  const std::size_t room = length - head - 2;
  // Start a few characters before the difference, and no further to the right than needed.
  std::size_t begin = at - std::min(at, room / 4);
  begin = std::min(begin, name.length() - std::min(name.length(), room));
  if (begin <= head + 1) return std::string(name.part(0, length - 1)).append(kEllipsis);
  std::string label(name.part(0, head));
  label.append(kEllipsis).append(name.part(begin, begin + room));
  if (begin + room < name.length()) label.append(kEllipsis);
  return label;
}

/// Labels of names that are all different.
class DistinctLabels {
 public:
  DistinctLabels(const std::set<std::string>& names, std::size_t length) : length_(length) {
    std::vector<std::string> too_long;
    for (const std::string& name : names) {
      if (utf8_length(name) <= length) {
        give(name, name);
      } else {
        too_long.push_back(name);
      }
    }
    label(too_long, [&](const std::string& name) { return short_form(name); });
  }

  const std::string& of(const std::string& name) const { return labels_.at(name); }

 private:
  std::string short_form(const std::string& name) const {
    const std::string_view bare = without_signature(name);
    return utf8_length(bare) <= length_ ? std::string(bare)
                                        : without_middle(LongName(bare), length_);
  }

  void give(const std::string& name, std::string label) {
    taken_.insert(label);
    labels_[name] = std::move(label);
  }

  template <typename LabelOf>
  void label(const std::vector<std::string>& names, LabelOf label_of) {
    std::map<std::string, std::vector<std::string>> groups;
    for (const std::string& name : names) groups[label_of(name)].push_back(name);
    for (const auto& [label, group] : groups) {
      if (group.size() == 1 && !taken_.contains(label)) {
        give(group.front(), label);
      } else if (group.size() < names.size() || !tried_) {
        tell_apart(group);
      } else {
        number(group);
      }
    }
  }

  /// Distinguishes the names by the part after their common beginning.
  void tell_apart(const std::vector<std::string>& group) {
    tried_ = true;
    const LongName first(group.front());
    std::size_t same = first.length();
    for (const std::string& name : group)
      same = std::min(same, first.common_prefix(LongName(name)));
    label(group,
          [&](const std::string& name) { return with_part_at(LongName(name), same, length_); });
  }

  void number(const std::vector<std::string>& group) {
    for (const std::string& name : group) {
      std::string label;
      int count = 2;
      do {
        const std::string ending = " #" + std::to_string(count++);
        label = without_middle(LongName(name), length_ - ending.size()) + ending;
      } while (taken_.contains(label));
      give(name, std::move(label));
    }
  }

  std::size_t length_;
  bool tried_ = false;
  std::set<std::string> taken_;
  std::map<std::string, std::string> labels_;
};

}  // namespace

std::vector<std::string> short_names(std::span<const std::string> names, std::size_t length) {
  const DistinctLabels labels({names.begin(), names.end()}, std::max<std::size_t>(length, 16));
  std::vector<std::string> result;
  result.reserve(names.size());
  for (const std::string& name : names) result.push_back(labels.of(name));
  return result;
}

std::vector<std::string_view> frame_labels(std::string_view frame) {
  constexpr std::string_view kModule = "nn.Module: ";
  std::vector<std::string_view> labels = {frame};
  const auto add = [&](std::string_view label) {
    if (!label.empty() && label.size() < labels.back().size()) labels.push_back(label);
  };
  if (const CodePlace place = code_place(frame); !place.line.empty()) {
    const std::size_t slash = place.file.find_last_of("/\\");
    if (slash != std::string_view::npos) {
      const std::size_t folder = place.file.substr(0, slash).find_last_of("/\\");
      if (folder != std::string_view::npos) add(frame.substr(folder + 1));
      add(frame.substr(slash + 1));
    }
    add(place.function);
  } else if (frame.starts_with(kModule)) {
    add(frame.substr(kModule.size()));
  } else {
    add(without_signature(frame));
    add(without_namespaces(labels.back()));
  }
  return labels;
}

std::vector<std::string_view> box_labels(std::string_view frame) {
  std::vector<std::string_view> labels = frame_labels(frame);
  // Whole, to/file.py(12): function, file.py(12): function, function.
  if (labels.size() == 4) labels.erase(labels.begin());
  return labels;
}

}  // namespace tbtrace::writers
