// Makes rows of a memory snapshot of the dicts and lists of its pickle, as soon as they are
// complete. To add a key, add its row in assembly.cc.
// Refers to its data, which must outlive it. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "snapshots/data.h"
#include "snapshots/lists.h"
#include "snapshots/pickle_value.h"

namespace tbtrace::snapshots {

class Assembly {
 public:
  explicit Assembly(SnapshotData& data) : data_(data) { kept_.emplace_back(); }

  Value text(std::string_view bytes);
  Value pair(std::int64_t first, std::int64_t second) {
    return {Kind::pair, data_.pool_number(first, second)};
  }
  /// `items`: keys and values in turn. `position`: where it ends.
  Value dict(std::span<const Value> items, std::uint64_t position);

  /// The same of a dict in which a file ends: only of the outermost one anything is known.
  Value cut_dict(std::span<const Value> items);

  /// nullopt if too many are open.
  std::optional<std::uint32_t> open_list() { return lists_.open(); }
  void append(std::uint32_t list, std::span<const Value> values) { lists_.append(list, values); }
  Value close_list(std::uint32_t list);

  /// Takes the outermost value. False if it is not a memory snapshot.
  bool finish(const Value& root);

 private:
  enum class Key : std::uint8_t;
  struct Fields;

  Key key_of(std::uint32_t text);
  Fields fields_of(std::span<const Value> items);
  Value entry(const Fields& fields, std::uint64_t position);
  Value block(const Fields& fields, std::uint64_t position);
  Value segment(const Fields& fields, std::uint64_t position);
  Value frame(const Fields& fields);
  Value annotation(const Fields& fields, std::uint64_t position);
  Value plain(std::span<const Value> items);
  void take_root(const Fields& fields);
  void take_segments(const ListContent& list);
  bool has_room(std::int64_t bytes);
  Value unreadable(std::uint64_t position);
  std::uint32_t stack_of(const Value& value);
  std::string text_of(const Value& value) const;

  SnapshotData& data_;
  OpenLists lists_;
  std::vector<std::uint8_t> keys_;          // by text; 0: not known yet
  std::vector<ListContent> kept_;           // lists that are done; 0 is empty
  std::vector<std::vector<Value>> plains_;  // dicts of scalars
  std::int64_t all_bytes_ = 0;
  bool has_root_ = false;
};

}  // namespace tbtrace::snapshots
