// Texts, categories and tracks of rows: from tokens to numbers of a batch's tables.
// Fills tables of an EventBatch that it is given; remembers what it met last. One thread at a time.
// Texts that break the rules of their writer are read as well as they can be and counted.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "readers/chrome/event_text.h"
#include "readers/chrome/tokenizer.h"
#include "trace/event_batch.h"
#include "trace/issues.h"

namespace tbtrace::readers {

class RowTables {
 public:
  /// Both must outlive it.
  RowTables(EventBatch& batch, IssueLog& issues) : batch_(batch), issues_(issues) {}

  /// How the texts that follow were written.
  void begin(const TextRules& rules) { rules_ = rules; }
  const TextRules& rules() const { return rules_; }

  /// The content of a string; of any other value its canonical JSON.
  StringId text(const Token& token, std::uint64_t offset);
  /// A value as its canonical JSON. A string that holds JSON means that JSON; another one stays.
  StringId json(const Token& token, std::uint64_t offset);
  /// The canonical form of a JSON text, empty if it is not JSON. Valid until the next call.
  std::string_view canonical(std::string_view json);
  CategoryId category(const RawEvent& event, std::uint64_t offset);
  TrackId track(const RawEvent& event, std::uint64_t offset);
  TrackKey process(const RawEvent& event, std::uint64_t offset) {
    return key(event, EventField::process, offset);
  }
  /// The thread, else the process's own.
  TrackKey thread(const RawEvent& event, std::uint64_t offset) {
    return key(event,
               is_given(event, EventField::thread) ? EventField::thread : EventField::process,
               offset);
  }
  StringId text(std::string_view utf8) { return static_cast<StringId>(batch_.texts.intern(utf8)); }

  /// Counts a text without quotes, which JSON does not have.
  void check_scalar(const Token& token, std::uint64_t offset);

  /// The meaning of a token as text, followed by bytes that padded parsers may read. Valid until
  /// the next call.
  std::string_view meaning(const Token& token) {
    return rules_.may_hold_escapes && token.is_string() ? unescaped(token) : token.text();
  }
  /// The meaning of a field, empty if it is not given.
  std::string_view meaning(const RawEvent& event, EventField field) {
    return is_given(event, field) ? meaning(event[field]) : std::string_view();
  }
  /// The field is given and means `text`.
  bool means(const RawEvent& event, EventField field, std::string_view text) {
    if (!is_given(event, field)) return false;
    const Token& token = event[field];
    return rules_.may_hold_escapes && token.is_string() ? unescaped(token) == text
                                                        : token.text() == text;
  }

  /// Begins new tables. The batch must hold no rows that count.
  void renew();
  /// The same if these have become large.
  void limit();

  /// The field is there and not null.
  static bool is_given(const RawEvent& event, EventField field) {
    return event.has(field) && !is_null(event[field]);
  }
  static bool is_given(const RawEvent& event, Argument argument) {
    return event.has(argument) && !is_null(event[argument]);
  }
  static bool is_null(const Token& token) {
    return token.type == Token::Type::scalar && token.size == 4 &&
           std::memcmp(token.data, "null", 4) == 0;
  }

 private:
  std::string_view unescaped(const Token& token);
  StringId decoded(const Token& token, std::uint64_t offset);
  StringId canonical(StringId text);
  CategoryId category_number(StringId text, std::uint64_t offset);
  TrackKey key(const RawEvent& event, EventField field, std::uint64_t offset);
  TrackId parse_track(const RawEvent& event, std::uint64_t offset);

  struct KnownTrack {
    std::uint64_t process = 0;  // the texts of its ids, of up to 8 characters; 0: none is known
    std::uint64_t thread = 0;
    std::uint32_t shapes = 0;  // the sizes of both, and which are strings
    TrackId track = {};
  };
  struct KnownCategory {
    std::uint64_t first = 0;  // 8 bytes, which may overlap
    std::uint64_t last = 0;
    std::uint32_t size = 0;  // 0: none is known
    CategoryId id = {};
  };

  EventBatch& batch_;
  IssueLog& issues_;
  TextRules rules_;
  std::string scratch_;
  std::vector<StringId> canonical_;  // by text; equal texts of arguments come again and again
  std::string canonical_text_;
  std::unordered_map<EventBatch::Track, TrackId, EventBatch::TrackHash> track_ids_;
  std::unordered_map<StringId, CategoryId> category_ids_;
  std::array<KnownTrack, 64> known_tracks_;  // most events are on a track that was met just now
  std::array<KnownCategory, 32> known_categories_;  // there are few, and each event has one
};

}  // namespace tbtrace::readers
