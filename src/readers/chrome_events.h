// What the fields of a Chrome trace event mean: from a RawEvent to rows of the model.
// A mapper belongs to one thread and keeps its own names, and the rows of one block.
// Committing them moves them into a TraceBuilder and translates the names.
// A field that makes no sense drops its event and is counted in the batch's issues.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/string_pool.h"
#include "readers/event_consumer.h"
#include "trace/issues.h"
#include "trace/trace_builder.h"

namespace tbtrace::readers {

/// The rows of one block of text. Names, tracks, categories and events are numbers of the mapper
/// that made it; event numbers count from the start of the batch.
struct EventBatch {
  struct Label {  // of a process_name or thread_name row
    TrackId track = {};
    StringId name = StringId::empty;
    bool process = false;
  };

  std::vector<EventRow> events;  // without their category
  std::vector<StringId> categories;
  std::vector<OperatorInputs> inputs;
  std::vector<AutogradInfo> autograd;
  std::vector<CallStack> call_stacks;
  std::vector<MemoryRecord> memory;
  std::vector<FlowEnd> flows;
  std::vector<Label> labels;
  std::optional<std::int64_t> first_other_time;  // of rows that are not here
  IssueLog issues;

  void clear();
};

class EventMapper final : public EventConsumer {
 public:
  /// `builder` must outlive it.
  EventMapper(const Wanted& wanted, TraceBuilder& builder) : wanted_(wanted), builder_(builder) {}

  void begin(const TextRules& rules) override { rules_ = rules; }
  void add(const RawEvent& event, std::uint64_t offset) override;
  void add_issue(IssueId id, std::uint64_t offset) override { batch_.issues.add(id, offset); }
  void commit(std::uint64_t offset) override;
  void discard() override;

 private:
  struct KeyPair {
    TrackKey process;
    TrackKey thread;
    bool operator==(const KeyPair&) const = default;
  };
  struct KeyPairHash {
    std::size_t operator()(const KeyPair& pair) const;
  };

  void add_range(const RawEvent& event, std::uint64_t offset);
  void add_details(const RawEvent& event, EventId row, std::uint64_t offset);
  void add_memory(const RawEvent& event, std::uint64_t offset);
  void add_flow(const RawEvent& event, std::uint64_t offset);
  void add_label(const RawEvent& event, std::uint64_t offset);
  void add_other(const RawEvent& event);

  static std::int64_t flow_id(const Token& token);
  StringId text(const Token& token, std::uint64_t offset);
  StringId category(const Token& token, std::uint64_t offset);
  StringId category_without_text(const RawEvent& event);
  TrackKey key(const Token& token);
  TrackId track(const RawEvent& event);
  TrackId parse_track(const RawEvent& event);

  StringId committed(StringId own);
  CategoryId committed_category(StringId own);
  TrackId committed(TrackId own);
  TrackKey committed(TrackKey own);

  Wanted wanted_;
  TraceBuilder& builder_;
  TextRules rules_;
  EventBatch batch_;
  std::string scratch_;

  StringPool strings_;
  std::unordered_map<KeyPair, TrackId, KeyPairHash> track_ids_;
  std::vector<KeyPair> tracks_;
  struct KnownTrack {
    std::uint64_t process = 0;  // the texts of its ids, of up to 8 characters; 0: none is known
    std::uint64_t thread = 0;
    TrackId track = {};
  };
  std::array<KnownTrack, 64> known_tracks_;  // most events are on a track that was met just now

  struct KnownText {
    std::uint64_t first = 0;  // 8 bytes, which may overlap
    std::uint64_t last = 0;
    std::uint32_t size = 0;  // 0: none is known
    StringId id = StringId::empty;
  };
  std::array<KnownText, 32> known_categories_;  // there are few, and each event has one

  // Own numbers to the builder's, filled when a number is committed for the first time.
  std::vector<StringId> builder_strings_;
  std::vector<TrackId> builder_tracks_;
  std::vector<CategoryId> builder_categories_;  // by own string
};

}  // namespace tbtrace::readers
