// What the fields of a Chrome trace event mean: from a RawEvent to rows of the model.
// A mapper belongs to one thread and keeps its own names; a batch is what it made of one block.
// Committing a batch moves its rows into a TraceBuilder and translates the names.
// A field that makes no sense drops its event and is counted in the batch's issues.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/string_pool.h"
#include "readers/chrome_tokenizer.h"
#include "trace/issues.h"
#include "trace/trace_builder.h"
#include "wire/json_scanner.h"

namespace tbtrace::readers {

/// What the caller of the reader asked for.
struct Wanted {
  bool inputs = true;
  bool inputs_for_flops_only = false;
  bool call_stacks = true;
};

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
  IssueLog issues;

  void clear();
};

class EventMapper {
 public:
  explicit EventMapper(Wanted wanted) : wanted_(wanted) {}

  void want(Wanted wanted) { wanted_ = wanted; }

  /// Says how the texts that follow were written, and whether they are known to be UTF-8.
  void begin(wire::Quoting quoting, bool may_hold_escapes, bool known_utf8);

  /// Adds the rows of an event that starts at `offset` of the block.
  void add(const RawEvent& event, std::uint64_t offset, EventBatch& batch);

  /// Moves the rows of a batch of this mapper into `builder`. `offset` is where its block starts
  /// in the file. Batches must be committed in the order of their blocks.
  void commit(EventBatch& batch, std::uint64_t offset, TraceBuilder& builder);

 private:
  struct KeyPair {
    TrackKey process;
    TrackKey thread;
    bool operator==(const KeyPair&) const = default;
  };
  struct KeyPairHash {
    std::size_t operator()(const KeyPair& pair) const;
  };

  void add_range(const RawEvent& event, std::uint64_t offset, EventBatch& batch);
  void add_details(const RawEvent& event, EventId row, std::uint64_t offset, EventBatch& batch);
  void add_memory(const RawEvent& event, std::uint64_t offset, EventBatch& batch);
  void add_flow(const RawEvent& event, std::uint64_t offset, EventBatch& batch);
  void add_label(const RawEvent& event, std::uint64_t offset, EventBatch& batch);

  static std::int64_t flow_id(const Token& token);
  StringId text(const Token& token, EventBatch& batch, std::uint64_t offset);
  StringId category(const Token& token, EventBatch& batch, std::uint64_t offset);
  TrackKey key(const Token& token);
  TrackId track(const RawEvent& event);
  TrackId parse_track(const RawEvent& event);

  StringId committed(StringId own, TraceBuilder& builder);
  CategoryId committed_category(StringId own, TraceBuilder& builder);
  TrackId committed(TrackId own, TraceBuilder& builder);
  TrackKey committed(TrackKey own, TraceBuilder& builder);

  Wanted wanted_;
  wire::Quoting quoting_ = wire::Quoting::escaped;
  bool may_hold_escapes_ = true;
  bool known_utf8_ = false;
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
