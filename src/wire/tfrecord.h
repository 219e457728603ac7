// TFRecord, the frame of event files: length (8 bytes, little-endian), its checksum, payload, the
// payload's checksum; no header, no padding (tensorflow/core/lib/io/record_writer.cc).
// docs/formats/event_files.md has the bytes. Pure functions, any thread. Any bytes are a payload.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tbtrace::wire {

inline constexpr std::size_t kRecordOverhead = 16;

void append_record(std::string& records, std::string_view payload);

}  // namespace tbtrace::wire
