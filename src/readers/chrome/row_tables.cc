#include "readers/chrome/row_tables.h"

#include <cstddef>
#include <cstring>
#include <limits>

#include "base/decimal.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "wire/json_strict.h"

namespace tbtrace::readers {
namespace {

/// The text as one word; 0 if it has more than 8 characters, or none.
std::uint64_t short_text(const Token& token) {
  if (token.size == 0 || token.size > 8) return 0;
  std::uint64_t word;
  std::memcpy(&word, token.data, sizeof word);
  return word << (8 * (8 - token.size)) >> (8 * (8 - token.size));
}

/// Tells ids apart whose texts are the same word: a text may end in zeros, and strings differ from
/// numbers and literals.
std::uint32_t shape(const Token& token) { return token.size << 1 | (token.is_string() ? 1 : 0); }

}  // namespace

/// Texts that come again and again are worth a table of one's own; all texts of a file are not.
void RowTables::limit() {
  constexpr std::size_t kMostTexts = std::size_t{1} << 13;
  constexpr std::size_t kMostBytes = std::size_t{1} << 19;
  const bool are_large = batch_.texts.size() >= kMostTexts ||
                         batch_.texts.byte_count() >= kMostBytes ||
                         batch_.tracks.size() >= kMostTexts;
  if (are_large) renew();
}

void RowTables::renew() {
  ++batch_.generation;
  batch_.texts = StringPool();
  canonical_.clear();
  batch_.tracks.clear();
  batch_.categories.clear();
  track_ids_.clear();
  category_ids_.clear();
  known_tracks_.fill({});
  known_categories_.fill({});
}

std::string_view RowTables::unescaped(const Token& token) {
  constexpr std::size_t kReadable = 8;
  const std::string_view text = readers::meaning(token, rules_, scratch_);
  if (text.data() == token.data) return text;
  scratch_.assign(std::string(text));
  scratch_.append(kReadable, '\0');
  return std::string_view(scratch_).substr(0, scratch_.size() - kReadable);
}

StringId RowTables::text(const Token& token, std::uint64_t offset) {
  const StringId text = decoded(token, offset);
  return token.is_string() ? text : canonical(text);
}

StringId RowTables::json(const Token& token, std::uint64_t offset) {
  return canonical(decoded(token, offset));
}

std::string_view RowTables::canonical(std::string_view json) {
  canonical_text_.clear();
  wire::append_canonical_json(canonical_text_, json);
  return canonical_text_;
}

/// The canonical form of a text of the batch, which is made once.
StringId RowTables::canonical(StringId text) {
  constexpr auto kUnknown = static_cast<StringId>(std::numeric_limits<std::uint32_t>::max());
  const auto number = static_cast<std::size_t>(text);
  if (number < canonical_.size() && canonical_[number] != kUnknown) return canonical_[number];
  const std::string_view json = batch_.texts[static_cast<std::uint32_t>(text)];
  StringId form = text;
  // Older writers left backslashes as they were, so what is an escape cannot be told.
  const bool may_be_escaped = rules_.quoting == wire::Quoting::escaped;
  if (may_be_escaped || json.find('\\') == std::string_view::npos) {
    const std::string_view made = canonical(json);
    if (!made.empty()) form = static_cast<StringId>(batch_.texts.intern(made));
  }
  if (number >= canonical_.size()) canonical_.resize(batch_.texts.size(), kUnknown);
  canonical_[number] = form;
  return form;
}

StringId RowTables::decoded(const Token& token, std::uint64_t offset) {
  const DecodedText decoded = decode(token, rules_, scratch_);
  if (decoded.unescaped) issues_.add(IssueId::unescaped_text, offset);
  if (decoded.invalid_utf8) issues_.add(IssueId::invalid_utf8, offset);
  return static_cast<StringId>(batch_.texts.intern(decoded.text));
}

void RowTables::check_scalar(const Token& token, std::uint64_t offset) {
  const bool is_scalar = token.type == Token::Type::scalar;
  if (is_scalar && !wire::is_json_scalar(token.text())) {
    issues_.add(IssueId::unescaped_text, offset);
  }
}

CategoryId RowTables::category_number(StringId text, std::uint64_t offset) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint16_t>::max();
  const std::size_t next = batch_.categories.size();
  if (next == kMost && !category_ids_.contains(text)) {
    issues_.add(IssueId::too_many_categories, offset);
    return static_cast<CategoryId>(kMost - 1);
  }
  const auto [found, added] = category_ids_.try_emplace(text, static_cast<CategoryId>(next));
  if (added) batch_.categories.push_back(text);
  return found->second;
}

CategoryId RowTables::category(const RawEvent& event, std::uint64_t offset) {
  if (!is_given(event, EventField::category)) return category_number(StringId::empty, offset);
  const Token& token = event[EventField::category];
  const bool may_be_known = token.is_string() && token.size > 0 && token.size <= 16;
  if (!may_be_known) return category_number(text(token, offset), offset);
  std::uint64_t first = short_text(token);
  std::uint64_t last = 0;
  if (token.size > 8) {
    std::memcpy(&first, token.data, sizeof first);
    std::memcpy(&last, token.data + token.size - sizeof last, sizeof last);
  }
  KnownCategory& known = known_categories_[hash_integer(first, last) % known_categories_.size()];
  if (known.size == token.size && known.first == first && known.last == last) return known.id;
  const CategoryId id = category_number(text(token, offset), offset);
  // Texts that take a closer look take it each time.
  if (is_plain(token.text(), rules_)) known = {first, last, token.size, id};
  return id;
}

TrackKey RowTables::key(const RawEvent& event, EventField field, std::uint64_t offset) {
  if (!is_given(event, field)) return {};
  const Token& token = event[field];
  const std::string_view content = meaning(token);
  std::int64_t number;
  if (parse_padded_id(content, number)) {
    return {number, StringId::empty, number < 0 && !content.starts_with('-')};
  }
  check_scalar(token, offset);
  const auto text = static_cast<StringId>(is_utf8(content) ? batch_.texts.intern(content)
                                                           : batch_.texts.intern(to_utf8(content)));
  return {0, token.is_string() ? text : canonical(text)};
}

TrackId RowTables::track(const RawEvent& event, std::uint64_t offset) {
  if (!event.has(EventField::process) || !event.has(EventField::thread)) {
    return parse_track(event, offset);
  }
  const std::uint64_t process = short_text(event[EventField::process]);
  const std::uint64_t thread = short_text(event[EventField::thread]);
  if (process == 0 || thread == 0) return parse_track(event, offset);
  KnownTrack& known = known_tracks_[hash_integer(process, thread) % known_tracks_.size()];
  const std::uint32_t shapes =
      shape(event[EventField::process]) << 8 | shape(event[EventField::thread]);
  const bool is_known =
      known.process == process && known.thread == thread && known.shapes == shapes;
  if (is_known) return known.track;
  const std::uint64_t counted = issues_.count(IssueId::unescaped_text);
  const TrackId track = parse_track(event, offset);
  // What is counted is counted each time.
  if (issues_.count(IssueId::unescaped_text) == counted) known = {process, thread, shapes, track};
  return track;
}

/// What has no thread is on the main thread of its process.
TrackId RowTables::parse_track(const RawEvent& event, std::uint64_t offset) {
  EventBatch::Track track;
  track.process = key(event, EventField::process, offset);
  track.thread =
      is_given(event, EventField::thread) ? key(event, EventField::thread, offset) : track.process;
  const auto [found, added] =
      track_ids_.try_emplace(track, static_cast<TrackId>(batch_.tracks.size()));
  if (added) batch_.tracks.push_back(track);
  return found->second;
}

}  // namespace tbtrace::readers
