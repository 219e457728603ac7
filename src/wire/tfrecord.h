// TFRecord, the framing of event files: length (8 bytes, little-endian), its checksum, payload, the
// payload's checksum; no header, no padding (tensorflow/core/lib/io/record_writer.cc).
// docs/formats/event_files.md lists the bytes. Pure functions, any thread. Any bytes are a payload.
// Reading stops at a truncated or damaged record: where the next one begins is unknown.
#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>

namespace tbtrace::wire {

inline constexpr std::size_t kRecordOverhead = 16;

void append_record(std::string& records, std::string_view payload);

/// Reads the next record's payload; false if there is no complete record with matching checksums.
/// Uses no more memory than there are bytes.
bool read_record(std::istream& records, std::string& payload);

}  // namespace tbtrace::wire
