// TFRecord, the frame of event files: length (8 bytes, little-endian), its checksum, payload, the
// payload's checksum; no header, no padding (tensorflow/core/lib/io/record_writer.cc).
// docs/formats/event_files.md has the bytes. Pure functions, any thread. Any bytes are a payload.
// A record that is cut off or damaged is the end: where the next one begins is not known.
#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>

namespace tbtrace::wire {

inline constexpr std::size_t kRecordOverhead = 16;

void append_record(std::string& records, std::string_view payload);

/// The next record's payload; false if there is no whole one that its checksums agree with. Takes
/// no more memory than there are bytes.
bool read_record(std::istream& records, std::string& payload);

}  // namespace tbtrace::wire
