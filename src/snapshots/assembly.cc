#include "snapshots/assembly.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <string>
#include <utility>

namespace tbtrace::snapshots {

enum class Assembly::Key : std::uint8_t {
  unread,
  // Of an entry, and of others as well.
  action,
  addr,
  device_free,
  size,
  stream,
  time_us,
  frames,
  compile_context,
  user_metadata,
  pool_id,
  forward_frames,
  category,
  // Of blocks and segments.
  address,
  requested_size,
  state,
  history,
  real_size,
  device,
  total_size,
  segment_type,
  segment_pool_id,
  is_expandable,
  blocks,
  // Of frames and annotations.
  filename,
  line,
  name,
  stage,
  // Of the file.
  segments,
  device_traces,
  allocator_settings,
  external_annotations,
  categories,
  count,
};

namespace {

// In the order of Key, from `action` on. torch/csrc/cuda/Module.cpp and memory_snapshot.cpp.
constexpr auto kKeyNames = std::to_array<std::string_view>({"action",
                                                            "addr",
                                                            "device_free",
                                                            "size",
                                                            "stream",
                                                            "time_us",
                                                            "frames",
                                                            "compile_context",
                                                            "user_metadata",
                                                            "pool_id",
                                                            "forward_frames",
                                                            "category",
                                                            "address",
                                                            "requested_size",
                                                            "state",
                                                            "history",
                                                            "real_size",
                                                            "device",
                                                            "total_size",
                                                            "segment_type",
                                                            "segment_pool_id",
                                                            "is_expandable",
                                                            "blocks",
                                                            "filename",
                                                            "line",
                                                            "name",
                                                            "stage",
                                                            "segments",
                                                            "device_traces",
                                                            "allocator_settings",
                                                            "external_annotations",
                                                            "categories"});

constexpr std::size_t kMostSettings = 64;   // keys of a dict that may be settings
constexpr std::size_t kMostPlains = 1'000;  // such dicts
/// All sizes of a file together; more could not be added up.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

std::string number_text(const Value& value) {
  return value.kind == Kind::huge ? std::to_string(value.bits)
                                  : std::to_string(static_cast<std::int64_t>(value.bits));
}

/// `  File "model.py", line 12, in forward`: a line of Python's tracebacks.
std::optional<Frame> traceback_frame(std::string_view text, SnapshotData& data) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  constexpr std::string_view kIn = ", in ";
  const std::size_t file = text.find(kFile);
  const std::size_t line = text.find(kLine, file == std::string_view::npos ? text.size() : file);
  if (line == std::string_view::npos) return std::nullopt;
  Frame frame;
  const std::size_t from = file + kFile.size();
  frame.file = data.texts.intern(text.substr(from, line - from));
  const std::string_view rest = text.substr(line + kLine.size());
  std::from_chars(rest.data(), rest.data() + rest.size(), frame.line);
  if (const std::size_t in = rest.find(kIn); in != std::string_view::npos) {
    const std::string_view name = rest.substr(in + kIn.size());
    frame.name = data.texts.intern(name.substr(0, name.find('\n')));
  }
  return frame;
}

}  // namespace

static_assert(kKeyNames.size() + 1 == 33);

/// The values of a dict by key.
struct Assembly::Fields {
  std::array<Value, static_cast<std::size_t>(Key::count)> values;
  std::uint64_t given = 0;

  bool has(Key key) const { return (given >> static_cast<unsigned>(key) & 1) != 0; }
  const Value& operator[](Key key) const { return values[static_cast<std::size_t>(key)]; }
  /// nullopt if it is missing or no whole number of 64 bits.
  std::optional<std::int64_t> whole(Key key) const {
    if (!has(key) || (*this)[key].kind != Kind::integer) return std::nullopt;
    return static_cast<std::int64_t>((*this)[key].bits);
  }
  std::optional<std::uint64_t> address(Key key) const {
    if (!has(key) || !(*this)[key].is_whole()) return std::nullopt;
    return (*this)[key].bits;
  }
  /// Of memory: not negative.
  std::optional<std::int64_t> bytes(Key key) const {
    const auto number = whole(key);
    return number && *number >= 0 && *number <= kMostBytes ? number : std::nullopt;
  }
  std::uint32_t of_kind(Key key, Kind kind) const {
    return has(key) && (*this)[key].kind == kind ? static_cast<std::uint32_t>((*this)[key].bits)
                                                 : 0;
  }
};

Value Assembly::text(std::string_view bytes) { return {Kind::text, data_.texts.intern(bytes)}; }

Assembly::Key Assembly::key_of(std::uint32_t text) {
  constexpr std::uint8_t kUnknown = 1;  // then the keys, from `action` on
  if (text >= keys_.size()) keys_.resize(std::max<std::size_t>(text + 1, keys_.size() * 2), 0);
  std::uint8_t& known = keys_[text];
  if (known == 0) {
    const auto* const found = std::ranges::find(kKeyNames, data_.texts[text]);
    known = found == kKeyNames.end()
                ? kUnknown
                : static_cast<std::uint8_t>(kUnknown + 1 + (found - kKeyNames.begin()));
  }
  return static_cast<Key>(known - kUnknown);
}

Assembly::Fields Assembly::fields_of(std::span<const Value> items) {
  Fields fields;
  for (std::size_t item = 0; item + 1 < items.size(); item += 2) {
    if (items[item].kind != Kind::text) continue;
    const Key key = key_of(static_cast<std::uint32_t>(items[item].bits));
    if (key == Key::unread) continue;
    fields.values[static_cast<std::size_t>(key)] = items[item + 1];
    fields.given |= std::uint64_t{1} << static_cast<unsigned>(key);
  }
  return fields;
}

Value Assembly::cut_dict(std::span<const Value> items) {
  const Fields fields = fields_of(items);
  if (fields.has(Key::segments) || fields.has(Key::device_traces)) take_root(fields);
  return {Kind::other, 0};
}

Value Assembly::dict(std::span<const Value> items, std::uint64_t position) {
  const Fields fields = fields_of(items);
  if (fields.has(Key::action)) return entry(fields, position);
  if (fields.has(Key::filename)) return frame(fields);
  if (fields.has(Key::state)) return block(fields, position);
  if (fields.has(Key::real_size)) {
    const auto size = fields.bytes(Key::real_size);
    data_.blocks.push_back({.requested = size.value_or(0), .stack = stack_of(fields[Key::frames])});
    return {Kind::history, data_.blocks.size() - 1};
  }
  if (fields.has(Key::total_size)) return segment(fields, position);
  if (fields.has(Key::stage)) return annotation(fields, position);
  if (fields.has(Key::segments) || fields.has(Key::device_traces)) {
    take_root(fields);
    return {Kind::other, 0};
  }
  return plain(items);
}

bool Assembly::has_room(std::int64_t bytes) {
  if (bytes > kMostBytes - all_bytes_) return false;
  all_bytes_ += bytes;
  return true;
}

Value Assembly::unreadable(std::uint64_t position) {
  data_.issues.add(IssueId::snapshot_row_unreadable, position);
  return {Kind::other, 0};
}

std::uint32_t Assembly::stack_of(const Value& value) {
  if (value.kind == Kind::stack) return static_cast<std::uint32_t>(value.bits);
  if (value.kind != Kind::list) return 0;
  const ListContent& list = kept_[value.bits];
  if (list.of != Kind::text) return 0;
  std::vector<std::uint32_t> frames;
  for (const std::uint32_t text : list.numbers) {
    if (const auto frame = traceback_frame(data_.texts[text], data_)) {
      frames.push_back(data_.frame_number(*frame));
    }
  }
  std::ranges::reverse(frames);  // a traceback has the innermost last
  return data_.stack_number(frames);
}

Value Assembly::entry(const Fields& fields, std::uint64_t position) {
  const auto action = action_named(data_.texts[fields.of_kind(Key::action, Kind::text)]);
  if (!action) return unreadable(position);
  const bool needs_size = *action != Action::snapshot;
  const auto address = fields.address(*action == Action::oom ? Key::device_free : Key::addr);
  const auto size = fields.bytes(Key::size);
  if (needs_size && (!address || !size || !has_room(*size))) return unreadable(position);
  if (data_.entries.count() == kNone - 1) return {Kind::other, 0};
  Entries& entries = data_.entries;
  const std::size_t row = entries.count();
  entries.action.push_back(*action);
  entries.address.push_back(address.value_or(0));
  entries.size.push_back(size.value_or(0));
  entries.time_us.push_back(fields.whole(Key::time_us).value_or(0));
  entries.stack.push_back(stack_of(fields[Key::frames]));
  const auto stream = fields.whole(Key::stream);
  entries.stream.push_back(stream ? data_.stream_number(*stream) : 0);
  entries.pool.set(row, fields.of_kind(Key::pool_id, Kind::pair));
  entries.context.set(row, fields.of_kind(Key::compile_context, Kind::text));
  entries.metadata.set(row, fields.of_kind(Key::user_metadata, Kind::text));
  if (fields.has(Key::forward_frames)) {
    entries.forward.set(row, stack_of(fields[Key::forward_frames]));
  }
  if (const auto category = fields.whole(Key::category); category && *category >= 0) {
    entries.category.set(row, static_cast<std::uint32_t>(*category + 1));
  }
  return {Kind::entry, row};
}

Value Assembly::frame(const Fields& fields) {
  Frame frame;
  frame.file = fields.of_kind(Key::filename, Kind::text);
  frame.name = fields.of_kind(Key::name, Kind::text);
  frame.line = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(fields.whole(Key::line).value_or(0), 0, 0x7fffffff));
  return {Kind::frame, data_.frame_number(frame)};
}

Value Assembly::block(const Fields& fields, std::uint64_t position) {
  const auto size = fields.bytes(Key::size);
  const std::string_view state = data_.texts[fields.of_kind(Key::state, Kind::text)];
  if (!size || state.empty() || !has_room(*size)) return unreadable(position);
  Block block;
  block.size = *size;
  const auto address = fields.address(Key::address);
  block.has_address = address.has_value();
  block.address = address.value_or(0);
  block.state = state == "active_allocated"   ? BlockState::allocated
                : state == "inactive"         ? BlockState::inactive
                : state.starts_with("active") ? BlockState::pending
                                              : BlockState::inactive;
  block.requested = std::min(fields.bytes(Key::requested_size).value_or(block.size), block.size);
  block.stack = stack_of(fields[Key::frames]);
  if (fields.has(Key::history) && fields[Key::history].kind == Kind::list) {
    // The newest allocation of the block.
    const ListContent& history = kept_[fields[Key::history].bits];
    if (history.of == Kind::history && history.rows.size() > 0) {
      const Block& newest = data_.blocks[history.rows[0]];
      if (!fields.has(Key::requested_size) && newest.requested > 0) {
        block.requested = std::min(newest.requested, block.size);
      }
      if (block.stack == 0) block.stack = newest.stack;
    }
  }
  data_.blocks.push_back(block);
  return {Kind::block, data_.blocks.size() - 1};
}

Value Assembly::segment(const Fields& fields, std::uint64_t position) {
  const auto size = fields.bytes(Key::total_size);
  const auto address = fields.address(Key::address);
  if (!size || !address || !has_room(*size)) return unreadable(position);
  Segment segment;
  segment.address = *address;
  segment.size = *size;
  segment.device = fields.whole(Key::device).value_or(0);
  const auto stream = fields.whole(Key::stream);
  segment.stream = stream ? data_.stream_number(*stream) : 0;
  segment.pool = fields.of_kind(Key::segment_pool_id, Kind::pair);
  segment.stack = stack_of(fields[Key::frames]);
  segment.is_small = data_.texts[fields.of_kind(Key::segment_type, Kind::text)] == "small";
  segment.is_expandable = fields.has(Key::is_expandable) &&
                          fields[Key::is_expandable].kind == Kind::boolean &&
                          fields[Key::is_expandable].bits != 0;
  if (fields.has(Key::blocks) && fields[Key::blocks].kind == Kind::list) {
    segment.blocks = kept_[fields[Key::blocks].bits].of == Kind::block
                         ? kept_[fields[Key::blocks].bits].rows
                         : RowList();
  }
  std::uint64_t next = segment.address;
  bool all_have_room = true;
  segment.blocks.for_each([&](std::uint32_t row) {
    Block& block = data_.blocks[row];
    all_have_room = all_have_room && has_room(block.size);
    if (!block.has_address) block.address = next;
    block.has_address = true;
    next = block.address + static_cast<std::uint64_t>(block.size);
  });
  if (!all_have_room) return unreadable(position);
  data_.segments.push_back(std::move(segment));
  return {Kind::segment, data_.segments.size() - 1};
}

Value Assembly::annotation(const Fields& fields, std::uint64_t position) {
  const auto time = fields.whole(Key::time_us);
  if (!time) return unreadable(position);
  data_.annotations.push_back(
      {.name = fields.of_kind(Key::name, Kind::text),
       .is_end = data_.texts[fields.of_kind(Key::stage, Kind::text)] == "END",
       .device = fields.whole(Key::device).value_or(0),
       .time_us = *time});
  return {Kind::annotation, data_.annotations.size() - 1};
}

Value Assembly::plain(std::span<const Value> items) {
  if (items.size() > 2 * kMostSettings || plains_.size() == kMostPlains) return {Kind::other, 0};
  plains_.emplace_back(items.begin(), items.end());
  return {Kind::plain, plains_.size() - 1};
}

Value Assembly::close_list(std::uint32_t list) {
  ListContent& content = lists_[list];
  Value value = {Kind::list, 0};
  if (content.of == Kind::frame) {
    value = {Kind::stack, data_.stack_number(content.numbers)};
  } else if (content.rows.size() > 0 || !content.numbers.empty()) {
    kept_.push_back(std::exchange(content, ListContent()));
    value.bits = kept_.size() - 1;
  }
  lists_.close(list);
  return value;
}

std::string Assembly::text_of(const Value& value) const {
  switch (value.kind) {
    case Kind::boolean:
      return value.bits != 0 ? "True" : "False";
    case Kind::integer:
    case Kind::huge:
      return number_text(value);
    case Kind::real: {
      std::array<char, 32> text;
      const auto end =
          std::to_chars(text.data(), text.data() + text.size(), std::bit_cast<double>(value.bits));
      return {text.data(), end.ptr};
    }
    case Kind::text:
      return std::string(data_.texts[static_cast<std::uint32_t>(value.bits)]);
    case Kind::plain: {
      std::string text;
      const std::vector<Value>& items = plains_[value.bits];
      for (std::size_t item = 0; item + 1 < items.size(); item += 2) {
        if (items[item + 1].kind == Kind::plain) continue;  // one level is what there is
        text += (text.empty() ? "" : ", ") + text_of(items[item]) + ":" + text_of(items[item + 1]);
      }
      return text;
    }
    default:
      return value.kind == Kind::none ? "None" : "";
  }
}

void Assembly::take_root(const Fields& fields) {
  has_root_ = true;
  const auto list_in = [&](Key key) -> const ListContent* {
    if (!fields.has(key) || fields[key].kind != Kind::list) return nullptr;
    return &kept_[fields[key].bits];
  };
  if (const ListContent* const segments = list_in(Key::segments)) take_segments(*segments);
  if (const ListContent* const traces = list_in(Key::device_traces)) {
    data_.has_traces = true;
    data_.traces.clear();
    if (traces->of == Kind::list) {
      traces->rows.for_each([&](std::uint32_t list) {
        data_.traces.push_back(kept_[list].of == Kind::entry ? kept_[list].rows : RowList());
      });
    }
  }
  if (const ListContent* const categories = list_in(Key::categories);
      categories != nullptr && categories->of == Kind::text) {
    for (const std::uint32_t text : categories->numbers) {
      data_.categories.emplace_back(data_.texts[text]);
    }
  }
  if (fields.has(Key::allocator_settings) && fields[Key::allocator_settings].kind == Kind::plain) {
    const std::vector<Value>& items = plains_[fields[Key::allocator_settings].bits];
    for (std::size_t item = 0; item + 1 < items.size(); item += 2) {
      data_.settings.emplace_back(text_of(items[item]), text_of(items[item + 1]));
    }
  }
}

/// Only rows of the list count: others may be elsewhere in the file.
void Assembly::take_segments(const ListContent& list) {
  data_.has_segments = true;
  std::vector<Segment> of_list;
  if (list.of == Kind::segment) {
    list.rows.for_each([&](std::uint32_t row) {
      if (row < data_.segments.size()) of_list.push_back(data_.segments[row]);
    });
  }
  data_.segments = std::move(of_list);
}

bool Assembly::finish(const Value& root) {
  if (has_root_) return true;
  // A list of segments is what torch.cuda.memory_snapshot() returns.
  if (root.kind != Kind::list || kept_[root.bits].of != Kind::segment) return false;
  take_segments(kept_[root.bits]);
  return true;
}

}  // namespace tbtrace::snapshots
