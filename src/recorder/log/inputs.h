// Inputs of operators as bytes: written by the recorded thread, turned into torch's texts later.
// A writer owns its bytes, or is given room for them. One thread per object. No memory:
// std::bad_alloc.
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
  InputsWriter() : InputsWriter(local_, sizeof local_) {}
  /// Writes into the room as long as the bytes fit; data() is there then.
  InputsWriter(char* room, std::size_t size) : start_(room), at_(room), end_(room + size) {}
  InputsWriter(const InputsWriter&) = delete;
  InputsWriter& operator=(const InputsWriter&) = delete;

  void nothing() { tag(InputTag::nothing); }
  void tensor(std::uint8_t element_type, std::span<const std::int64_t> sizes,
              std::span<const std::int64_t> strides) {
    make_room(3 + kLongest * (sizes.size() + strides.size() + 1));
    char* at = put(at_, InputTag::tensor, element_type, sizes);
    for (const std::int64_t stride : strides) at = put(at, zigzag(stride));
    at_ = at;
  }
  void sparse_tensor(std::uint8_t element_type, std::span<const std::int64_t> sizes) {
    make_room(3 + kLongest * (sizes.size() + 1));
    at_ = put(at_, InputTag::sparse_tensor, element_type, sizes);
  }
  /// So many inputs that follow are its members.
  void tensor_list(std::size_t count) { begin_list(InputTag::tensor_list, count); }
  void list(std::size_t count) { begin_list(InputTag::list, count); }
  void integer(std::int64_t value) {
    make_room(1 + kLongest);
    at_ = put(put(at_, InputTag::integer), zigzag(value));
  }
  void boolean(bool value) {
    make_room(2);
    char* const at = put(at_, InputTag::boolean);
    *at = static_cast<char>(value);
    at_ = at + 1;
  }
  void real(double value) {
    make_room(9);
    at_ = put(put(at_, InputTag::real), value);
  }
  void complex(double real, double imaginary) {
    make_room(17);
    at_ = put(put(put(at_, InputTag::complex), real), imaginary);
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
    at_ = put(at_, tag);
  }
  void begin_list(InputTag tag, std::size_t count) {
    make_room(1 + kLongest);
    at_ = put(put(at_, tag), std::uint64_t{count});
  }

  // Each writes at the place and gives the one behind. Not at at_: bytes that are written might be
  // at_'s own, as far as the compiler knows.
  static char* put(char* at, InputTag tag) {
    *at = static_cast<char>(tag);
    return at + 1;
  }
  static char* put(char* at, std::uint64_t number) {
    while (number >= 0x80) [[unlikely]] {
        *at++ = static_cast<char>(number | 0x80);
        number >>= 7;
      }
    *at = static_cast<char>(number);
    return at + 1;
  }
  static char* put(char* at, double value) {
    std::memcpy(at, &value, sizeof value);
    return at + sizeof value;
  }
  static char* put(char* at, InputTag tag, std::uint8_t element_type,
                   std::span<const std::int64_t> sizes) {
    at = put(at, tag);
    *at++ = static_cast<char>(element_type);
    at = put(at, std::uint64_t{sizes.size()});
    for (const std::int64_t size : sizes) at = put(at, static_cast<std::uint64_t>(size));
    return at;
  }
  void make_room(std::size_t size) {
    if (static_cast<std::size_t>(end_ - at_) < size) [[unlikely]]
      grow(size);
  }
  void grow(std::size_t size);

  char local_[1024];
  std::unique_ptr<char[]> heap_;
  char* start_;
  char* at_;
  char* end_;
};

/// Whether an InputsWriter may have written the bytes.
bool are_inputs(std::string_view bytes);

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
