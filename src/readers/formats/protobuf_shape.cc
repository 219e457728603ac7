#include "readers/formats/protobuf_shape.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace tbtrace::readers {
namespace {

constexpr std::size_t kMostFields = 16;

std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (std::size_t at = 0; at < std::min<std::size_t>(bytes.size(), 10); ++at) {
    const auto byte = static_cast<unsigned char>(bytes[at]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * at);
    if ((byte & 0x80) != 0) continue;
    bytes.remove_prefix(at + 1);
    return value;
  }
  return std::nullopt;
}

/// Takes the value of a field; false if there is none that is valid.
bool take_value(std::uint64_t wire_type, std::string_view& bytes, ProtobufField& field) {
  std::uint64_t size = 0;
  switch (wire_type) {
    case 0:
      return take_varint(bytes).has_value();
    case 1:
      size = 8;
      break;
    case 2: {
      const std::optional<std::uint64_t> length = take_varint(bytes);
      if (!length) return false;
      size = *length;
      break;
    }
    case 5:
      size = 4;
      break;
    default:
      return false;
  }
  field.is_cut = size > bytes.size();
  const std::string_view value = bytes.substr(0, size);
  if (wire_type == 2) field.content = value;
  bytes.remove_prefix(value.size());
  return true;
}

}  // namespace

std::vector<ProtobufField> protobuf_fields(std::string_view bytes, bool is_whole) {
  std::vector<ProtobufField> fields;
  while (!bytes.empty() && fields.size() < kMostFields) {
    const std::optional<std::uint64_t> tag = take_varint(bytes);
    ProtobufField field = {.number = tag.value_or(0) >> 3, .content = {}, .is_cut = false};
    const bool is_valid =
        tag && field.number > 0 && field.number < (1U << 29) && take_value(*tag & 7, bytes, field);
    if (!is_valid || (field.is_cut && is_whole)) {
      // A varint may be cut by the end of what is known.
      if (is_whole || !bytes.empty()) return {};
      break;
    }
    fields.push_back(field);
  }
  return fields;
}

}  // namespace tbtrace::readers
