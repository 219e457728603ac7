#include "recorder/log/inputs.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "wire/json_text.h"

namespace tbtrace::recorder {

void InputsWriter::grow(std::size_t size) {
  const std::size_t used = this->size();
  const std::size_t wanted = std::max(2 * static_cast<std::size_t>(end_ - start_), used + size);
  std::unique_ptr<char[]> larger(new char[wanted]);
  std::memcpy(larger.get(), start_, used);
  heap_ = std::move(larger);
  start_ = heap_.get();
  at_ = start_ + used;
  end_ = start_ + wanted;
}

namespace {

class InputsReader {
 public:
  InputsReader(std::string_view bytes, const std::vector<std::string>& element_types,
               InputTexts& texts)
      : at_(bytes.data()), end_(at_ + bytes.size()), element_types_(element_types), texts_(texts) {}

  void read() {
    for (std::string* text : {&texts_.dims, &texts_.strides, &texts_.types, &texts_.concrete}) {
      *text += '[';
    }
    for (bool first = true; at_ < end_; first = false) {
      if (!first) {
        for (std::string* text : {&texts_.dims, &texts_.strides, &texts_.types, &texts_.concrete}) {
          *text += ", ";
        }
      }
      input();
    }
    for (std::string* text : {&texts_.dims, &texts_.strides, &texts_.types, &texts_.concrete}) {
      *text += ']';
    }
  }

 private:
  void input() {
    const auto tag = static_cast<InputTag>(*at_++);
    switch (tag) {
      case InputTag::nothing:
        without_shape("", "");
        break;
      case InputTag::tensor:
      case InputTag::sparse_tensor: {
        type(static_cast<std::uint8_t>(*at_++));
        const std::size_t dimensions = number();
        sizes(dimensions, texts_.dims);
        strides(tag == InputTag::tensor ? dimensions : 0, texts_.strides);
        texts_.concrete += "\"\"";
        break;
      }
      case InputTag::tensor_list:
        tensor_list();
        break;
      case InputTag::list: {
        const std::size_t count = number();
        std::string values = "[";
        for (std::size_t member = 0; member < count; ++member) {
          if (member > 0) values += ", ";
          scalar(static_cast<InputTag>(*at_++), values);
        }
        values += ']';
        without_shape("ScalarList", values);
        break;
      }
      default: {
        std::string value;
        scalar(tag, value);
        without_shape("Scalar", value);
      }
    }
  }

  /// torch writes the shapes of lists of up to 30 tensors.
  void tensor_list() {
    const std::size_t count = number();
    const bool shown = count <= kLongestList;
    texts_.types += "\"TensorList\"";
    texts_.concrete += "\"\"";
    texts_.dims += '[';
    texts_.strides += '[';
    std::string ignored;
    for (std::size_t member = 0; member < count; ++member) {
      std::string& dims = shown ? texts_.dims : ignored;
      std::string& strides = shown ? texts_.strides : ignored;
      if (member > 0) {
        dims += ", ";
        strides += ", ";
      }
      const auto tag = static_cast<InputTag>(*at_++);
      if (tag == InputTag::nothing) {
        dims += "[]";
        strides += "[]";
        continue;
      }
      ++at_;  // the element type
      const std::size_t dimensions = number();
      sizes(dimensions, dims);
      this->strides(tag == InputTag::tensor ? dimensions : 0, strides);
    }
    texts_.dims += ']';
    texts_.strides += ']';
  }

  void without_shape(std::string_view type, std::string_view value) {
    texts_.dims += "[]";
    texts_.strides += "[]";
    wire::append_json_string(texts_.types, type);
    wire::append_json_string(texts_.concrete, value);
  }

  void type(std::size_t number) {
    wire::append_json_string(
        texts_.types, number < element_types_.size() ? element_types_[number] : std::string_view());
  }

  void sizes(std::size_t count, std::string& text) {
    numbers(count, text, [this] { return static_cast<std::int64_t>(number()); });
  }
  void strides(std::size_t count, std::string& text) {
    numbers(count, text, [this] { return signed_number(); });
  }

  template <typename Next>
  static void numbers(std::size_t count, std::string& text, Next&& next) {
    text += '[';
    for (std::size_t at = 0; at < count; ++at) {
      if (at > 0) text += ", ";
      text += fmt::format_int(next()).c_str();
    }
    text += ']';
  }

  void scalar(InputTag tag, std::string& text) {
    switch (tag) {
      case InputTag::integer:
        fmt::format_to(std::back_inserter(text), "{}", signed_number());
        break;
      case InputTag::boolean:
        text += *at_++ != 0 ? "True" : "False";
        break;
      case InputTag::real:
        real(double_value(), text);
        break;
      case InputTag::complex: {
        const double re = double_value();
        const double im = double_value();
        // As IValue's stream operator: zeros count as positive, NaN as negative.
        real(re, text);
        text += im >= 0 ? '+' : '-';
        real(std::abs(im), text);
        text += 'j';
        break;
      }
      default:
        break;
    }
  }

  /// As IValue's stream operator: whole numbers of 64 bits end in a point, zero without its sign;
  /// others have 17 digits.
  static void real(double value, std::string& text) {
    constexpr double kBound = 0x1p63;
    if (value >= -kBound && value < kBound && value == std::trunc(value)) {
      fmt::format_to(std::back_inserter(text), "{}.", static_cast<std::int64_t>(value));
    } else {
      fmt::format_to(std::back_inserter(text), "{:.17g}", value);
    }
  }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(*at_++);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
  }
  std::int64_t signed_number() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
  }
  double double_value() {
    double value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  const char* at_;
  const char* end_;
  const std::vector<std::string>& element_types_;
  InputTexts& texts_;
};

}  // namespace

namespace {

class InputsCheck {
 public:
  explicit InputsCheck(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  bool check() {
    while (ok_ && at_ < end_) input();
    return ok_;
  }

 private:
  void input() {
    switch (const auto tag = static_cast<InputTag>(byte()); tag) {
      case InputTag::tensor_list:
        for (std::size_t left = counted(1); ok_ && left > 0; --left) {
          tensor(static_cast<InputTag>(byte()));
        }
        break;
      case InputTag::list:
        for (std::size_t left = counted(1); ok_ && left > 0; --left) {
          scalar(static_cast<InputTag>(byte()));
        }
        break;
      case InputTag::nothing:
      case InputTag::tensor:
      case InputTag::sparse_tensor:
        tensor(tag);
        break;
      default:
        scalar(tag);
    }
  }

  void tensor(InputTag tag) {
    if (tag == InputTag::nothing) return;
    ok_ = ok_ && (tag == InputTag::tensor || tag == InputTag::sparse_tensor);
    byte();
    const std::size_t dimensions = counted(1);
    numbers(tag == InputTag::tensor ? 2 * dimensions : dimensions);
  }

  void scalar(InputTag tag) {
    switch (tag) {
      case InputTag::integer:
        number();
        break;
      case InputTag::boolean:
        byte();
        break;
      case InputTag::real:
        skip(sizeof(double));
        break;
      case InputTag::complex:
        skip(2 * sizeof(double));
        break;
      default:
        ok_ = false;
    }
  }

  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  void skip(std::size_t bytes) {
    ok_ = ok_ && bytes <= left();
    if (ok_) at_ += bytes;
  }
  char byte() {
    const char* const before = at_;
    skip(1);
    return ok_ ? *before : '\0';
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; ok_ && shift < 64; shift += 7) {
      const auto next = static_cast<std::uint8_t>(byte());
      value |= std::uint64_t{next & 0x7fU} << shift;
      if (next < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  void numbers(std::size_t count) {
    for (; ok_ && count > 0; --count) number();
  }
  /// A count of things that take at least so many bytes each.
  std::size_t counted(std::size_t least_bytes) {
    const std::uint64_t count = number();
    ok_ = ok_ && count <= left() / least_bytes;
    return ok_ ? static_cast<std::size_t>(count) : 0;
  }

  const char* at_;
  const char* const end_;
  bool ok_ = true;
};

}  // namespace

bool are_inputs(std::string_view bytes) { return InputsCheck(bytes).check(); }

void append_input_texts(std::string_view bytes, const std::vector<std::string>& element_types,
                        InputTexts& texts) {
  InputsReader(bytes, element_types, texts).read();
}

}  // namespace tbtrace::recorder
