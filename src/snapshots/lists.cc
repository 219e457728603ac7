#include "snapshots/lists.h"

#include <algorithm>

namespace tbtrace::snapshots {
namespace {

bool is_row(Kind kind) {
  return (kind >= Kind::entry && kind <= Kind::history) || kind == Kind::list;
}
bool is_number(Kind kind) { return kind == Kind::frame || kind == Kind::text; }

}  // namespace

std::optional<std::uint32_t> OpenLists::open() {
  if (!free_.empty()) {
    const std::uint32_t list = free_.back();
    free_.pop_back();
    return list;
  }
  if (lists_.size() == kMost) return std::nullopt;
  lists_.emplace_back();
  return static_cast<std::uint32_t>(lists_.size() - 1);
}

void OpenLists::append(std::uint32_t list, std::span<const Value> values) {
  ListContent& content = lists_[list];
  for (const Value& value : values) {
    if (content.is_empty) {
      content.of = value.kind;
      content.is_empty = false;
    }
    if (value.kind != content.of) {
      // Rows that could not be read are `other`: the rest of the list is as it is.
      if (is_row(content.of) && !is_row(value.kind)) continue;
      if (is_row(value.kind) && !is_row(content.of) && !is_number(content.of)) {
        content.of = value.kind;
      } else {
        content.of = Kind::other;
        continue;
      }
    }
    const auto number = static_cast<std::uint32_t>(value.bits);
    // A row counts once: each object of a snapshot is in one place of one list.
    const bool is_new = value.kind == Kind::list || number >= content.after;
    if (is_row(value.kind) && is_new) content.rows.add(number);
    if (is_row(value.kind)) content.after = std::max(content.after, number + 1);
    if (is_number(value.kind)) content.numbers.push_back(number);
  }
}

void OpenLists::close(std::uint32_t list) {
  ListContent& content = lists_[list];
  content.is_empty = true;
  content.of = Kind::none;
  content.rows = RowList();
  content.after = 0;
  content.numbers.clear();  // and keeps its memory
  free_.push_back(list);
}

}  // namespace tbtrace::snapshots
