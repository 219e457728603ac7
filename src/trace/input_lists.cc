#include "trace/input_lists.h"

#include <cstddef>
#include <optional>

#include "base/decimal.h"

namespace tbtrace {
namespace {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  /// The next character that is not a blank, '\0' at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  std::optional<std::int64_t> integer() {
    peek();
    const std::size_t start = at_;
    while (at_ < text_.size() && (text_[at_] == '-' || (text_[at_] >= '0' && text_[at_] <= '9'))) {
      ++at_;
    }
    return parse_integer(text_.substr(start, at_ - start));
  }

  /// The content of a string, up to a quote that is followed by the next element or the end of the
  /// list.
  std::optional<std::string> string() {
    if (!take('"')) return std::nullopt;
    for (std::size_t end = at_;; ++end) {
      end = text_.find('"', end);
      if (end == std::string_view::npos) return std::nullopt;
      Cursor after(text_.substr(end + 1));
      if (after.peek() != ',' && after.peek() != ']') continue;
      std::string content(text_.substr(at_, end - at_));
      at_ = end + 1;
      return content;
    }
  }

  /// Skips to after the bracket that closes the current list.
  void leave_list() {
    for (std::size_t depth = 1; at_ < text_.size() && depth > 0; ++at_) {
      if (text_[at_] == '[') ++depth;
      if (text_[at_] == ']') --depth;
    }
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<InputDims> parse_dims(std::string_view json) {
  std::vector<InputDims> dims;
  Cursor cursor(json);
  if (!cursor.take('[')) return dims;
  while (cursor.take('[')) {
    InputDims& input = dims.emplace_back();
    while (!cursor.take(']')) {
      const bool nested = cursor.peek() == '[';
      const std::optional<std::int64_t> size = nested ? std::nullopt : cursor.integer();
      if (!size) {
        input = {{}, nested};
        cursor.leave_list();
        break;
      }
      input.sizes.push_back(*size);
      cursor.take(',');
    }
    cursor.take(',');
  }
  return dims;
}

std::vector<std::string> parse_texts(std::string_view json) {
  std::vector<std::string> texts;
  Cursor cursor(json);
  if (!cursor.take('[')) return texts;
  while (std::optional<std::string> text = cursor.string()) {
    texts.push_back(*std::move(text));
    if (!cursor.take(',')) break;
  }
  return texts;
}

bool parse_integers(std::string_view json, std::vector<std::int64_t>& values) {
  values.clear();
  Cursor cursor(json);
  if (!cursor.take('[')) return false;
  while (!cursor.take(']')) {
    const std::optional<std::int64_t> value = cursor.integer();
    if (!value) return false;
    values.push_back(*value);
    if (!cursor.take(',') && cursor.peek() != ']') return false;
  }
  return cursor.peek() == '\0';
}

std::string shapes_text(const std::vector<InputDims>& dims, const std::vector<std::string>& types) {
  std::string text = "[";
  for (std::size_t input = 0; input < dims.size(); ++input) {
    if (input > 0) text += ", ";
    text += '[';
    const bool list = input < types.size() && types[input] == "TensorList";
    for (std::size_t axis = 0; !list && axis < dims[input].sizes.size(); ++axis) {
      if (axis > 0) text += ", ";
      text += std::to_string(dims[input].sizes[axis]);
    }
    text += ']';
  }
  return text + ']';
}

InputTexts inputs_of(const Trace& trace, EventId op) {
  return {trace.argument(Argument::input_dims).text(op),
          trace.argument(Argument::input_types).text(op),
          trace.argument(Argument::concrete_inputs).text(op)};
}

std::string shapes_of(const Trace& trace, const InputTexts& inputs) {
  const std::vector<InputDims> dims = parse_dims(trace.string(inputs.dims));
  return dims.empty() ? std::string() : shapes_text(dims, parse_texts(trace.string(inputs.types)));
}

}  // namespace tbtrace
