// Writes a message of Protocol Buffers field by field, where generated code would be too slow or is
// not there. Appends to a string that must outlive it. Not synchronised.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tbtrace::wire {

class ProtoWriter {
 public:
  explicit ProtoWriter(std::string& bytes) : bytes_(bytes) {}

  /// int32, int64, uint32, uint64, bool and enums; negative numbers as 64 bits, as protobuf does.
  void integer(std::uint32_t field, std::uint64_t value) {
    char text[2 * kMostBytes];
    std::size_t size = put(text, std::uint64_t{field} << 3);
    size += put(text + size, value);
    bytes_.append(text, size);
  }
  void signed_integer(std::uint32_t field, std::int64_t value) {
    integer(field, static_cast<std::uint64_t>(value));
  }
  void fixed64(std::uint32_t field, std::uint64_t value) {
    char text[kMostBytes + 8];
    std::size_t size = put(text, std::uint64_t{field} << 3 | 1);
    for (int shift = 0; shift < 64; shift += 8) {
      text[size++] = static_cast<char>(static_cast<unsigned char>(value >> shift));
    }
    bytes_.append(text, size);
  }
  void real(std::uint32_t field, double value) {
    fixed64(field, std::bit_cast<std::uint64_t>(value));
  }
  /// Texts, which must be UTF-8, and messages.
  void bytes(std::uint32_t field, std::string_view value) {
    char text[2 * kMostBytes];
    std::size_t size = put(text, std::uint64_t{field} << 3 | 2);
    size += put(text + size, value.size());
    bytes_.append(text, size);
    bytes_.append(value);
  }
  /// An element of a packed field.
  void element(std::uint64_t value) {
    char text[kMostBytes];
    bytes_.append(text, put(text, value));
  }

 private:
  static constexpr std::size_t kMostBytes = 10;  // of a varint

  static std::size_t put(char* text, std::uint64_t value) {
    std::size_t size = 0;
    for (; value > 127; value >>= 7) {
      text[size++] = static_cast<char>(static_cast<unsigned char>(value | 128));
    }
    text[size++] = static_cast<char>(value);
    return size;
  }

  std::string& bytes_;
};

}  // namespace tbtrace::wire
