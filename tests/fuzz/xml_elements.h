// The elements of an XML document, if it is well-formed as far as our writer's output goes: no
// DTD, no processing instructions but the declaration, no entities but the five of XML.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace tbtrace::fuzz {

class XmlReader {
 public:
  explicit XmlReader(std::string_view text) : text_(text) {}

  /// How often each element occurs; nothing if the document is not well-formed.
  std::optional<std::map<std::string, std::size_t>> elements() {
    if (!is_utf8(text_)) return std::nullopt;
    if (take("<?xml") && !skip_behind("?>")) return std::nullopt;
    while (!text_.empty()) {
      if (take("<![CDATA[")) {
        if (open_.empty() || !skip_behind("]]>")) return std::nullopt;
      } else if (take("</")) {
        if (open_.empty() || name() != open_.back() || !take(">")) return std::nullopt;
        open_.pop_back();
      } else if (take("<")) {
        if (!start_tag()) return std::nullopt;
      } else if (!character("")) {
        return std::nullopt;
      }
    }
    if (!open_.empty()) return std::nullopt;
    return counts_;
  }

 private:
  bool take(std::string_view start) {
    if (!text_.starts_with(start)) return false;
    text_.remove_prefix(start.size());
    return true;
  }

  bool skip_behind(std::string_view end) {
    const std::size_t found = text_.find(end);
    if (found == std::string_view::npos) return false;
    text_.remove_prefix(found + end.size());
    return true;
  }

  std::string name() {
    constexpr std::string_view kName =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-:_";
    const std::size_t size = std::min(text_.find_first_not_of(kName), text_.size());
    const std::string name(text_.substr(0, size));
    text_.remove_prefix(size);
    return name;
  }

  bool start_tag() {
    const std::string element = name();
    if (element.empty()) return false;
    ++counts_[element];
    std::set<std::string> attributes;
    for (;;) {
      const bool blank = take(" ");
      while (take(" ") || take("\n")) {
      }
      if (take("/>")) return true;
      if (take(">")) {
        open_.push_back(element);
        return true;
      }
      const std::string attribute = name();
      if (!blank || attribute.empty() || !attributes.insert(attribute).second) return false;
      if (!take("=\"")) return false;
      while (!take("\"")) {
        if (!character("<")) return false;
      }
    }
  }

  /// One character or reference that may stand in text.
  bool character(std::string_view forbidden) {
    if (text_.empty()) return false;
    if (text_[0] == '&') {
      for (const std::string_view entity :
           {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#39;", "&#9;", "&#10;", "&#13;"}) {
        if (take(entity)) return true;
      }
      return false;
    }
    const auto byte = static_cast<unsigned char>(text_[0]);
    const bool control = byte < 0x20 && byte != '\t' && byte != '\n';
    if (control || forbidden.find(text_[0]) != std::string_view::npos) return false;
    if (text_.starts_with("]]>") || text_.starts_with("\xef\xbf\xbe") ||
        text_.starts_with("\xef\xbf\xbf")) {
      return false;
    }
    text_.remove_prefix(1);
    return true;
  }

  std::string_view text_;
  std::vector<std::string> open_;
  std::map<std::string, std::size_t> counts_;
};

inline std::optional<std::map<std::string, std::size_t>> xml_elements(std::string_view text) {
  return XmlReader(text).elements();
}

}  // namespace tbtrace::fuzz
