#include "readers/chrome/kineto_layout.h"

#include <cstddef>

namespace tbtrace::readers {
namespace {

using wire::Quoting;

/// Walks over a text that may end too early.
class Layout {
 public:
  explicit Layout(std::string_view text) : text_(text) {}

  bool ended() const { return ended_; }

  bool take(std::string_view expected) {
    const std::string_view found = text_.substr(0, expected.size());
    if (found.size() < expected.size() && expected.starts_with(found)) ended_ = true;
    if (found != expected) return false;
    text_.remove_prefix(expected.size());
    return true;
  }

  /// The end of a line, as Windows has it too.
  bool take_line_end() {
    if (text_.starts_with('\r')) text_.remove_prefix(1);
    return take("\n");
  }

  void skip_blanks() {
    while (text_.starts_with(' ')) text_.remove_prefix(1);
    if (text_.empty()) ended_ = true;
  }

  bool is_at_line_end() {
    if (text_.empty()) ended_ = true;
    return text_.starts_with('\r') || text_.starts_with('\n');
  }

  /// Moves to after the next comma.
  bool find_comma() {
    const std::size_t comma = text_.find(',');
    if (comma == std::string_view::npos) {
      ended_ = true;
      return false;
    }
    text_.remove_prefix(comma + 1);
    return true;
  }

 private:
  std::string_view text_;
  bool ended_ = false;
};

}  // namespace

std::optional<Quoting> quoting_of_events(std::string_view text) {
  const std::size_t array = text.find('[');
  if (array == std::string_view::npos) return std::nullopt;
  Layout layout(text.substr(array + 1));
  const auto other = [&] {
    return layout.ended() ? std::nullopt : std::optional(Quoting::escaped);
  };
  if (!layout.take_line_end()) return other();
  Layout blank_line = layout;
  blank_line.skip_blanks();
  const bool has_blank_line = blank_line.is_at_line_end() && blank_line.take_line_end();
  if (blank_line.ended()) return std::nullopt;
  if (has_blank_line) layout = blank_line;
  if (!layout.take("  {") || !layout.take_line_end() || !layout.take("    \"")) return other();
  if (!layout.find_comma()) return std::nullopt;
  const bool is_line_end = layout.is_at_line_end();
  if (layout.ended()) return std::nullopt;
  if (!is_line_end) return Quoting::kineto_inline;
  return has_blank_line ? Quoting::kineto_lines : Quoting::escaped;
}

}  // namespace tbtrace::readers
