// Lookup tables of TraceBuilder. Included only by its own files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/column.h"
#include "base/hash.h"
#include "trace/argument_values.h"
#include "trace/trace_builder.h"

namespace tbtrace {

/// Translates ids of a batch's tables to the builder's. Texts and categories are looked up on first
/// use; tracks at once, so that their order is that of the file.
struct TraceBuilder::Translation {
  static constexpr StringId kUnset = static_cast<StringId>(0xffffffff);
  static constexpr CategoryId kNoCategory = static_cast<CategoryId>(0xffff);  // larger than any id

  std::uint32_t generation = 0;
  Column<StringId> texts;
  Column<TrackId> tracks;
  Column<CategoryId> categories;
  TraceBuilder* builder = nullptr;
  const EventBatch* rows = nullptr;

  void begin(TraceBuilder& to, const EventBatch& from) {
    if (generation != from.generation) {
      texts.clear();
      tracks.clear();
      categories.clear();
      generation = from.generation;
    }
    builder = &to;
    rows = &from;
    texts.resize(from.texts.size(), kUnset);
    categories.resize(from.categories.size(), kNoCategory);
    for (std::size_t next = tracks.size(); next < from.tracks.size(); ++next) {
      const auto& [process, thread] = from.tracks[next];
      tracks.push_back(builder->track(key(process), key(thread)));
    }
  }

  StringId text(StringId own) {
    StringId& known = texts[index(own)];
    if (known == kUnset) known = builder->intern(rows->texts[static_cast<std::uint32_t>(own)]);
    return known;
  }
  TrackKey key(const TrackKey& own) { return {own.number, text(own.text), own.is_unsigned}; }
  TrackId track(TrackId own) const { return tracks[index(own)]; }
  CategoryId category(CategoryId own) {
    CategoryId& known = categories[index(own)];
    if (known == kNoCategory) known = builder->category(text(rows->categories[index(own)]));
    return known;
  }
};

struct TraceBuilder::Lookup {
  struct KeyHash {
    std::size_t operator()(const TrackKey& key) const {
      return hash_integer(static_cast<std::uint64_t>(key.number), index(key.text));
    }
  };

  std::unordered_map<EventBatch::Track, TrackId, EventBatch::TrackHash> tracks;
  std::unordered_map<StringId, CategoryId> categories;
  std::unordered_map<TrackKey, StringId, KeyHash> process_names;
  std::vector<Translation> translations;             // by reader
  std::map<Argument, ArgumentValues> end_arguments;  // by index of a range end
};

}  // namespace tbtrace
