// Whether bytes look like messages of protobuf, without knowing the schema.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tbtrace::readers {

/// A field of a message, with its content if it has a length.
struct ProtobufField {
  std::uint64_t number;
  std::string_view content;
  bool is_cut;  ///< the content goes on beyond the bytes that are known
};

/// The first fields of a message; empty if the bytes are not one. `is_whole`: whether a field that
/// goes on beyond the bytes is wrong. At most 16.
std::vector<ProtobufField> protobuf_fields(std::string_view bytes, bool is_whole);

}  // namespace tbtrace::readers
