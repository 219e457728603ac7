#include "recorder/log/record.h"

#include <limits>

namespace tbtrace::recorder {

BeginRecord begin_record(const std::uint64_t* at, std::size_t words, const std::uint64_t*& next) {
  using namespace record_detail;
  const std::uint64_t* const start = at;
  const auto left = [&] { return words - static_cast<std::size_t>(at - start); };
  BeginRecord record;
  next = nullptr;
  if (left() < 3) return record;
  record.ticks = at[0] >> kKindBits;
  record.key = at[1] & kLow48;
  record.scope = static_cast<Scope>(at[1] >> 48 & 0xff);
  const std::uint64_t flags = at[1] >> 56;
  record.name = static_cast<NameNumber>(at[2] & kLow32);
  const auto inputs_size = static_cast<std::uint32_t>(at[2] >> 32);
  at += 3;
  const std::size_t input_words = (std::size_t{inputs_size} + 7) / 8;
  if (left() < 4 + input_words) {
    // Only near the end does each part have to be looked at by itself.
    std::size_t needed = input_words;
    for (const std::uint64_t flag : {kHasSequence, kHasForwardThread, kHasModule, kHasScript}) {
      if ((flags & flag) != 0) ++needed;
    }
    if (left() < needed) return record;
  }
  if ((flags & kHasSequence) != 0) record.sequence_number = static_cast<std::int64_t>(*at++);
  if ((flags & kHasForwardThread) != 0) record.forward_thread = *at++;
  if ((flags & kHasModule) != 0) record.module = *at++;
  if ((flags & kHasScript) != 0) {
    record.script_stack = static_cast<NameNumber>(*at & kLow32);
    record.script_modules = static_cast<NameNumber>(*at++ >> 32);
  }
  if ((flags & kHasInputs) != 0) {
    record.inputs_size = inputs_size;
    record.inputs = reinterpret_cast<const char*>(at);
    at += input_words;
  }
  if ((flags & kHasStack) != 0) {
    if (left() < 1 || *at > left() - 1) return record;
    const std::size_t frames = *at++;
    record.stack = {reinterpret_cast<void* const*>(at), frames};
    at += frames;
  }
  if ((flags & kHasStorages) != 0) {
    if (left() < 1 || *at > left() - 1) return record;
    const std::size_t storages = *at++;
    record.storages = {at, storages};
    at += storages;
  }
  if ((flags & kHasArguments) != 0) {
    if (left() < 1) return record;
    const std::string_view arguments(reinterpret_cast<const char*>(at + 1), *at);
    // Not by words_of(), which a wrong number could make small.
    if (arguments.size() / 8 > left() || words_of(arguments) > left() - 1) return record;
    record.arguments = arguments;
    at += 1 + words_of(arguments);
  }
  next = at;
  return record;
}

BeginRecord begin_record(const std::uint64_t* at) {
  const std::uint64_t* next = nullptr;
  return begin_record(at, std::numeric_limits<std::size_t>::max(), next);
}

}  // namespace tbtrace::recorder
