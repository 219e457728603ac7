// Inputs of operators as bytes: written by the recorded thread, turned into torch's texts later.
// A writer owns its bytes. One thread per object. Without memory an input counts as nothing.
//
// An input is a tag and what follows it; numbers are varints (LEB128), signed ones zigzag.
//   nothing                  what has no shape and no value
//   tensor                   element type, dimensions, sizes (unsigned), strides
//   sparse_tensor            element type, dimensions, sizes: no strides
//   tensor_list              count, then so many tensors or nothings
//   integer, boolean         the value     real: 8 bytes     complex: 16 bytes
//   list                     count, then so many of these scalars
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbtrace::recorder {

enum class InputTag : std::uint8_t {
  nothing,
  tensor,
  sparse_tensor,
  tensor_list,
  integer,
  boolean,
  real,
  complex,
  list,
};

/// torch leaves the values of longer lists out.
inline constexpr std::size_t kLongestList = 30;

class InputsWriter {
 public:
  InputsWriter() = default;
  InputsWriter(const InputsWriter&) = delete;
  InputsWriter& operator=(const InputsWriter&) = delete;

  void nothing() { tag(InputTag::nothing); }
  void tensor(std::uint8_t element_type, std::span<const std::int64_t> sizes,
              std::span<const std::int64_t> strides) {
    make_room(3 + kLongest * (sizes.size() + strides.size() + 1));
    put(InputTag::tensor, element_type, sizes);
    for (const std::int64_t stride : strides) number(zigzag(stride));
  }
  void sparse_tensor(std::uint8_t element_type, std::span<const std::int64_t> sizes) {
    make_room(3 + kLongest * (sizes.size() + 1));
    put(InputTag::sparse_tensor, element_type, sizes);
  }
  /// So many inputs that follow are its members.
  void tensor_list(std::size_t count) { begin_list(InputTag::tensor_list, count); }
  void list(std::size_t count) { begin_list(InputTag::list, count); }
  void integer(std::int64_t value) {
    make_room(1 + kLongest);
    *at_++ = static_cast<char>(InputTag::integer);
    number(zigzag(value));
  }
  void boolean(bool value) {
    make_room(2);
    *at_++ = static_cast<char>(InputTag::boolean);
    *at_++ = static_cast<char>(value);
  }
  void real(double value) {
    make_room(9);
    *at_++ = static_cast<char>(InputTag::real);
    bytes(value);
  }
  void complex(double real, double imaginary) {
    make_room(17);
    *at_++ = static_cast<char>(InputTag::complex);
    bytes(real);
    bytes(imaginary);
  }

  const char* data() const { return start_; }
  std::size_t size() const { return static_cast<std::size_t>(at_ - start_); }

 private:
  static constexpr std::size_t kLongest = 10;  // bytes of a varint

  static std::uint64_t zigzag(std::int64_t value) {
    return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
  }
  void tag(InputTag tag) {
    make_room(1);
    *at_++ = static_cast<char>(tag);
  }
  void put(InputTag tag, std::uint8_t element_type, std::span<const std::int64_t> sizes) {
    *at_++ = static_cast<char>(tag);
    *at_++ = static_cast<char>(element_type);
    number(sizes.size());
    for (const std::int64_t size : sizes) number(static_cast<std::uint64_t>(size));
  }
  void begin_list(InputTag tag, std::size_t count) {
    make_room(1 + kLongest);
    *at_++ = static_cast<char>(tag);
    number(count);
  }
  void number(std::uint64_t value) {
    while (value >= 0x80) [[unlikely]] {
        *at_++ = static_cast<char>(value | 0x80);
        value >>= 7;
      }
    *at_++ = static_cast<char>(value);
  }
  void bytes(double value) {
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }
  void make_room(std::size_t size) {
    if (static_cast<std::size_t>(end_ - at_) < size) [[unlikely]]
      grow(size);
  }
  void grow(std::size_t size);

  char local_[1024];
  std::unique_ptr<char[]> heap_;
  char* start_ = local_;
  char* at_ = local_;
  char* end_ = local_ + sizeof local_;
};

/// The arguments that torch writes of an operator's inputs, as JSON texts.
struct InputTexts {
  std::string dims;      ///< `[[32, 28], []]`
  std::string strides;   ///< `[[28, 1], []]`
  std::string types;     ///< `["float", "Scalar"]`
  std::string concrete;  ///< `["", "1"]`
};

/// Of what an InputsWriter wrote. `element_types` are names by number.
void append_input_texts(std::string_view bytes, const std::vector<std::string>& element_types,
                        InputTexts& texts);

}  // namespace tbtrace::recorder
