#include "snapshots/pickle_machine.h"

#include <algorithm>
#include <bit>
#include <span>
#include <string_view>
#include <utility>

#include "snapshots/opcodes.h"

namespace tbtrace::snapshots {
namespace {

constexpr std::uint64_t kNoPlace = ~std::uint64_t{0};
constexpr std::size_t kMostNested = 1'000;
constexpr std::size_t kBatch = 1'000;  // of a dict with more keys, Python writes so many at a time
/// The stack has so many values, and one more for so many bytes: those of a list are there at once.
constexpr std::size_t kFreeValues = 65'536;
constexpr std::uint64_t kBytesOfValue = 4;

std::string at_byte(std::uint64_t position) { return "at byte " + std::to_string(position); }

}  // namespace

Result<PickleMachine::Read> PickleMachine::run() {
  Step end = Step::next;
  while (end == Step::next) {
    at_ = bytes_.position();
    end = bytes_.has(1) ? step() : Step::cut;
    if (stack_.size() > kFreeValues + at_ / kBytesOfValue) {
      end = refuse("has more values on its stack than a memory snapshot has " + at_byte(at_));
    }
  }
  if (end == Step::refused) return refusal_;
  Read read;
  read.position = at_;
  if (end == Step::done && (stack_.size() != 1 || !marks_.empty())) end = Step::damaged;
  if (end != Step::done) {
    read.end = end == Step::cut ? End::cut : End::damaged;
    close_all();
  }
  if (!stack_.empty()) read.root = settled(stack_.front());
  return read;
}

PickleMachine::Step PickleMachine::refuse(std::string message) {
  refusal_ = Status(StatusCode::unreadable_input, std::move(message));
  return Step::refused;
}

PickleMachine::Step PickleMachine::step() {
  const std::uint8_t byte = bytes_.byte();
  const auto number_of = [&](std::size_t size, auto sign) {
    if (!bytes_.has(size)) return Step::cut;
    push(Kind::integer, static_cast<std::uint64_t>(
                            std::int64_t{static_cast<decltype(sign)>(bytes_.number(size))}));
    return Step::next;
  };
  switch (static_cast<Opcode>(byte)) {
    case Opcode::binget:
    case Opcode::long_binget:
    case Opcode::binput:
    case Opcode::long_binput:
    case Opcode::memoize:
      return step_of_memo(byte);
    case Opcode::binint:
      return number_of(4, std::int32_t{});
    case Opcode::binint1:
      return number_of(1, std::uint8_t{});
    case Opcode::binint2:
      return number_of(2, std::uint16_t{});
    case Opcode::long1:
      return take_long();
    case Opcode::mark:
      if (marks_.size() == kMostNested) {
        return refuse("is nested more than 1,000 deep " + at_byte(at_) +
                      ", as no memory snapshot is");
      }
      marks_.push_back(stack_.size());
      return Step::next;
    case Opcode::stop:
      return Step::done;
    case Opcode::none:
      push(Kind::none);
      return Step::next;
    case Opcode::new_true:
    case Opcode::new_false:
      push(Kind::boolean, byte == static_cast<std::uint8_t>(Opcode::new_true) ? 1 : 0);
      return Step::next;
    case Opcode::binfloat:
      if (!bytes_.has(8)) return Step::cut;
      push(Kind::real, __builtin_bswap64(bytes_.number(8)));
      return Step::next;
    case Opcode::proto:
      if (!bytes_.has(1)) return Step::cut;
      if (const std::uint8_t version = bytes_.byte(); version < 2 || version > 5) {
        return refuse("is a pickle of protocol " + std::to_string(version) +
                      "; memory snapshots have 2 to 5");
      }
      return Step::next;
    case Opcode::frame:
      if (!bytes_.has(8)) return Step::cut;
      bytes_.number(8);
      return Step::next;
    case Opcode::binunicode:
    case Opcode::short_binunicode:
    case Opcode::binunicode8:
    case Opcode::binbytes:
    case Opcode::short_binbytes:
      return step_of_text(byte);
    case Opcode::empty_list:
    case Opcode::append:
    case Opcode::appends:
    case Opcode::empty_tuple:
    case Opcode::tuple:
    case Opcode::tuple1:
    case Opcode::tuple2:
    case Opcode::tuple3:
    case Opcode::empty_dict:
    case Opcode::setitem:
    case Opcode::setitems:
      return step_of_object(byte);
  }
  const std::string_view name = opcode_name(byte);
  if (name.empty()) return Step::damaged;
  return refuse("is a pickle with " + std::string(name) + " " + at_byte(at_) +
                (runs_code(byte) ? ", which makes Python run code; no memory snapshot has that, so "
                                   "do not load this file with pickle"
                                 : ", which no memory snapshot has") +
                "; write it again with torch.cuda.memory._dump_snapshot()");
}

PickleMachine::Step PickleMachine::step_of_text(std::uint8_t opcode) {
  switch (static_cast<Opcode>(opcode)) {
    case Opcode::short_binunicode:
      return take_text(1, true);
    case Opcode::binunicode:
      return take_text(4, true);
    case Opcode::binunicode8:
      return take_text(8, true);
    case Opcode::binbytes:
      return take_text(4, false);
    default:
      return take_text(1, false);
  }
}

/// A text, with its size in `size_bytes` before it. What is longer than PickleBytes gives at once
/// is cut; bytes are passed over.
PickleMachine::Step PickleMachine::take_text(std::size_t size_bytes, bool is_kept) {
  if (!bytes_.has(size_bytes)) return Step::cut;
  const std::uint64_t size = bytes_.number(size_bytes);
  if (!is_kept) {
    push(Kind::other);
    return bytes_.skip(size) ? Step::next : Step::cut;
  }
  const auto kept =
      static_cast<std::size_t>(std::min<std::uint64_t>(size, PickleBytes::kMostAtOnce));
  if (!bytes_.has(kept)) return Step::cut;
  const Value text = assembly_.text(bytes_.view(kept));
  stack_.push_back(text);
  return bytes_.skip(size - kept) ? Step::next : Step::cut;
}

/// Two's complement of up to 9 bytes: addresses are up to 2^64.
PickleMachine::Step PickleMachine::take_long() {
  if (!bytes_.has(1)) return Step::cut;
  const std::size_t size = bytes_.byte();
  if (!bytes_.has(size)) return Step::cut;
  const std::string_view digits = bytes_.view(size);
  std::uint64_t bits = 0;
  const bool is_negative = size > 0 && (static_cast<std::uint8_t>(digits.back()) & 0x80) != 0;
  if (is_negative) bits = ~std::uint64_t{0};
  for (std::size_t place = std::min<std::size_t>(size, 8); place-- > 0;) {
    bits = bits << 8 | static_cast<std::uint8_t>(digits[place]);
  }
  const char sign = is_negative ? '\xff' : '\0';
  const bool fits = size <= 8 || digits.find_first_not_of(sign, 8) == std::string_view::npos;
  if (!fits) {
    push(Kind::other);
  } else {
    const bool is_huge = !is_negative && (bits >> 63) != 0;
    push(is_huge ? Kind::huge : Kind::integer, bits);
  }
  return Step::next;
}

PickleMachine::Step PickleMachine::step_of_memo(std::uint8_t opcode) {
  const auto place_of = [&](std::size_t size, Step (PickleMachine::*take)(std::uint64_t)) {
    return bytes_.has(size) ? (this->*take)(bytes_.number(size)) : Step::cut;
  };
  switch (static_cast<Opcode>(opcode)) {
    case Opcode::binget:
      return place_of(1, &PickleMachine::take_get);
    case Opcode::long_binget:
      return place_of(4, &PickleMachine::take_get);
    case Opcode::binput:
      return place_of(1, &PickleMachine::take_put);
    case Opcode::long_binput:
      return place_of(4, &PickleMachine::take_put);
    default:
      return take_put(memo_kinds_.size());
  }
}

PickleMachine::Step PickleMachine::take_put(std::uint64_t place) {
  if (stack_.empty()) return Step::damaged;
  if (place > at_) {
    return refuse("names place " + std::to_string(place) + " of its memo " + at_byte(at_) +
                  ", more than the file can have filled");
  }
  Value& value = stack_.back();
  if (value.kind == Kind::open_dict) {
    if (value.bits != kNoPlace) return Step::damaged;
    value.bits = place;
  }
  if (value.kind == Kind::open_list) {
    std::uint64_t& known = memo_of_list_[static_cast<std::size_t>(value.bits)];
    if (known != kNoPlace) return Step::damaged;
    known = place;
  }
  remember(place, value);
  return Step::next;
}

void PickleMachine::remember(std::uint64_t place, const Value& value) {
  const auto at = static_cast<std::size_t>(place);
  if (at >= memo_kinds_.size()) {
    memo_kinds_.resize(at + 1, Kind::unset);
    memo_bits_.resize(at + 1, 0);
  }
  memo_kinds_[at] = value.kind;
  memo_bits_[at] = value.bits;
}

PickleMachine::Step PickleMachine::take_get(std::uint64_t place) {
  if (place >= memo_kinds_.size()) return Step::damaged;
  const auto at = static_cast<std::size_t>(place);
  const auto remembered = [&] { return Value{memo_kinds_[at], memo_bits_[at]}; };
  if (memo_kinds_[at] == Kind::unset) return Step::damaged;
  const bool is_open = memo_kinds_[at] == Kind::open_dict || memo_kinds_[at] == Kind::open_list;
  if (is_open && !settle_on_stack(remembered())) {
    return refuse("has an object that contains itself " + at_byte(at_) +
                  ", which no memory snapshot has");
  }
  stack_.push_back(remembered());
  return Step::next;
}

bool PickleMachine::settle_on_stack(const Value& open) {
  for (const std::size_t mark : marks_) {
    if (mark > 0 && stack_[mark - 1] == open) return false;
  }
  for (std::size_t at = stack_.size(); at-- > 0;) {
    if (stack_[at] != open) continue;
    stack_[at] = settled(open);
    return true;
  }
  return false;
}

Value PickleMachine::settled(const Value& value) {
  std::uint64_t place = kNoPlace;
  Value done = value;
  if (value.kind == Kind::open_dict) {
    place = value.bits;
    done = {Kind::other, 0};
  } else if (value.kind == Kind::open_list) {
    const auto list = static_cast<std::uint32_t>(value.bits);
    place = memo_of_list_[list];
    done = assembly_.close_list(list);
  }
  if (place != kNoPlace) remember(place, done);
  return done;
}

void PickleMachine::settle_from(std::size_t from) {
  for (std::size_t at = from; at < stack_.size(); ++at) stack_[at] = settled(stack_[at]);
}

bool PickleMachine::pop_mark(std::size_t& from) {
  if (marks_.empty()) return false;
  from = marks_.back();
  marks_.pop_back();
  return true;
}

PickleMachine::Step PickleMachine::step_of_object(std::uint8_t opcode) {
  std::size_t from = 0;
  switch (static_cast<Opcode>(opcode)) {
    case Opcode::empty_dict:
      push(Kind::open_dict, kNoPlace);
      return Step::next;
    case Opcode::empty_list: {
      const auto list = assembly_.open_list();
      if (!list) return refuse("has too many lists in lists " + at_byte(at_));
      if (*list >= memo_of_list_.size()) memo_of_list_.resize(*list + 1);
      memo_of_list_[*list] = kNoPlace;
      push(Kind::open_list, *list);
      return Step::next;
    }
    case Opcode::append:
      return stack_.size() < 2 ? Step::damaged : take_elements(stack_.size() - 1);
    case Opcode::appends:
      return pop_mark(from) ? take_elements(from) : Step::damaged;
    case Opcode::setitem:
      return stack_.size() < 3 ? Step::damaged : take_items(stack_.size() - 2);
    case Opcode::setitems:
      return pop_mark(from) ? take_items(from) : Step::damaged;
    case Opcode::empty_tuple:
      push(Kind::list);
      return Step::next;
    case Opcode::tuple:
      return pop_mark(from) ? take_tuple(stack_.size() - from) : Step::damaged;
    case Opcode::tuple1:
      return take_tuple(1);
    case Opcode::tuple2:
      return take_tuple(2);
    default:
      return take_tuple(3);
  }
}

PickleMachine::Step PickleMachine::take_tuple(std::size_t count) {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() < floor + count) return Step::damaged;
  const std::size_t from = stack_.size() - count;
  settle_from(from);
  const std::span<const Value> values(stack_.data() + from, count);
  Value tuple;
  if (count == 2 && values[0].kind == Kind::integer && values[1].kind == Kind::integer) {
    tuple = assembly_.pair(static_cast<std::int64_t>(values[0].bits),
                           static_cast<std::int64_t>(values[1].bits));
  } else {
    const auto list = assembly_.open_list();
    if (!list) return refuse("has too many lists in lists " + at_byte(at_));
    assembly_.append(*list, values);
    tuple = assembly_.close_list(*list);
  }
  stack_.resize(from);
  stack_.push_back(tuple);
  return Step::next;
}

PickleMachine::Step PickleMachine::take_elements(std::size_t from) {
  if (from == 0 || (!marks_.empty() && from <= marks_.back())) return Step::damaged;
  const Value list = stack_[from - 1];
  if (list.kind != Kind::open_list) {
    return refuse("changes an object that is a part of another one " + at_byte(at_) +
                  ", which no memory snapshot does");
  }
  settle_from(from);
  assembly_.append(static_cast<std::uint32_t>(list.bits),
                   std::span<const Value>(stack_.data() + from, stack_.size() - from));
  stack_.resize(from);
  return Step::next;
}

PickleMachine::Step PickleMachine::take_items(std::size_t from) {
  const std::size_t count = stack_.size() - from;
  if (from == 0 || count % 2 != 0 || (!marks_.empty() && from <= marks_.back())) {
    return Step::damaged;
  }
  const Value dict = stack_[from - 1];
  if (dict.kind != Kind::open_dict && dict.kind != Kind::other) {
    return refuse("changes an object that is a part of another one " + at_byte(at_) +
                  ", which no memory snapshot does");
  }
  settle_from(from);
  if (dict.kind == Kind::open_dict) {
    const bool is_first_of_more = count == 2 * kBatch;
    const Value made = is_first_of_more
                           ? Value{Kind::other, 0}
                           : assembly_.dict(std::span<const Value>(stack_.data() + from, count),
                                            bytes_.position());
    stack_[from - 1] = made;
    if (dict.bits != kNoPlace) remember(dict.bits, made);
  }
  stack_.resize(from);
  return Step::next;
}

/// A list of one value is written without a mark: where a list or dict stands in the place of a
/// key, it is the value of the list before it.
void PickleMachine::append_pending(std::size_t from) {
  while (stack_.size() >= from + 3 && (stack_.size() - from) % 2 == 1) {
    const Value& around = stack_[stack_.size() - 2];
    const Kind last = stack_.back().kind;
    if (around.kind != Kind::open_list || (last != Kind::open_list && last != Kind::open_dict)) {
      return;
    }
    const Value value = settled(stack_.back());
    assembly_.append(static_cast<std::uint32_t>(around.bits), std::span(&value, 1));
    stack_.pop_back();
  }
}

void PickleMachine::close_all() {
  while (!marks_.empty()) {
    const std::size_t from = std::min(marks_.back(), stack_.size());
    marks_.pop_back();
    if (from > 0 && stack_[from - 1].kind == Kind::open_dict) append_pending(from);
    settle_from(from);
    if (from > 0) {
      Value& around = stack_[from - 1];
      const std::span<const Value> values(stack_.data() + from, stack_.size() - from);
      if (around.kind == Kind::open_list) {
        assembly_.append(static_cast<std::uint32_t>(around.bits), values);
      } else if (around.kind == Kind::open_dict) {
        around = assembly_.cut_dict(values);
      }
    }
    stack_.resize(from);
  }
}

}  // namespace tbtrace::snapshots
