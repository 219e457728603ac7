// Packets of one sequence of a Perfetto trace, and the names that its events refer to by number.
// Uses a TextSink, which must outlive it. Owns its tables. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "io/text_sink.h"
#include "wire/proto_writer.h"
#include "writers/exports/perfetto_fields.h"

namespace tbtrace::writers::perfetto {

/// Numbers for the texts of one field of InternedData, by the texts' own numbers. A text is written
/// with the first packet that needs it.
class InternTable {
 public:
  InternTable(std::uint32_t field, std::string& pending) : field_(field), pending_(pending) {}

  std::uint64_t iid(std::size_t number, std::string_view text) {
    if (number >= iids_.size()) iids_.resize(number + 1 + number / 2, 0);
    if (iids_[number] != 0) return iids_[number];
    iids_[number] = ++last_;
    entry_.clear();
    wire::ProtoWriter entry(entry_);
    entry.integer(interned::kIid, last_);
    // Protobuf refuses texts that are not UTF-8.
    entry.bytes(interned::kValue, is_utf8(text) ? text : std::string_view(to_utf8(text)));
    wire::ProtoWriter(pending_).bytes(field_, entry_);
    return last_;
  }

 private:
  std::uint32_t field_;
  std::string& pending_;
  std::string entry_;
  std::vector<std::uint32_t> iids_;  // 0: none yet
  std::uint32_t last_ = 0;
};

class Packets {
 public:
  Packets(io::TextSink& out, std::uint64_t sequence) : out_(out), sequence_(sequence) {}
  Packets(const Packets&) = delete;
  Packets& operator=(const Packets&) = delete;

  /// The first packet: what time 0 of the sequence is in nanoseconds, and whether these count from
  /// 1970.
  void begin(std::uint64_t zero_ns, bool is_wall) {
    std::string clocks;
    add_clock(clocks, clock::kOfSequence, 0);
    add_clock(clocks, clock::kBoottime, zero_ns);
    if (is_wall) add_clock(clocks, clock::kRealtime, zero_ns);
    wire::ProtoWriter(clocks).integer(clock::kPrimary, clock::kBoottime);
    std::string defaults;
    wire::ProtoWriter(defaults).integer(packet::kTimestampClockId, clock::kOfSequence);
    wire::ProtoWriter packet = start(packet::kStateCleared);
    packet.bytes(packet::kClockSnapshot, clocks);
    packet.bytes(packet::kDefaults, defaults);
    write();
  }

  void descriptor(std::string_view bytes) {
    start(packet::kNeedsState).bytes(packet::kTrackDescriptor, bytes);
    write();
  }

  /// An event, with the names that it is the first to need. `time_ns`: since time 0.
  void event(std::uint64_t time_ns, std::string_view bytes) {
    wire::ProtoWriter packet = start(packet::kNeedsState);
    packet.integer(packet::kTimestamp, time_ns);
    if (!pending_.empty()) {
      packet.bytes(packet::kInternedData, pending_);
      pending_.clear();
    }
    packet.bytes(packet::kTrackEvent, bytes);
    write();
  }

  InternTable& categories() { return categories_; }
  InternTable& names() { return names_; }
  InternTable& annotation_names() { return annotation_names_; }
  InternTable& texts() { return texts_; }

 private:
  static void add_clock(std::string& clocks, std::uint64_t id, std::uint64_t time_ns) {
    std::string bytes;
    wire::ProtoWriter one(bytes);
    one.integer(clock::kId, id);
    one.integer(clock::kTime, time_ns);
    wire::ProtoWriter(clocks).bytes(clock::kClocks, bytes);
  }

  wire::ProtoWriter start(std::uint64_t flags) {
    body_.clear();
    wire::ProtoWriter packet(body_);
    packet.integer(packet::kSequenceId, sequence_);
    packet.integer(packet::kSequenceFlags, flags);
    return packet;
  }

  void write() {
    wire::ProtoWriter(out_.text()).bytes(trace::kPacket, body_);
    out_.flow();
  }

  io::TextSink& out_;
  std::uint64_t sequence_;
  std::string body_;
  std::string pending_;
  InternTable categories_{interned::kCategory, pending_};
  InternTable names_{interned::kName, pending_};
  InternTable annotation_names_{interned::kAnnotationName, pending_};
  InternTable texts_{interned::kText, pending_};
};

}  // namespace tbtrace::writers::perfetto
