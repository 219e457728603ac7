// Records of a journal that are not a thread's: a word with the kind and the size, then the bytes.
//
//   word 0   kind | bytes << 32     then the bytes, filled up to whole words
//
// For the thread that writes the log; reading is for any. Bytes that are read may be anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "recorder/log/thread_log.h"

namespace tbtrace::recorder::journal {

/// `words`, then `text`. False: there is no room.
inline bool write_framed(ThreadLog& log, std::uint32_t kind, std::span<const std::uint64_t> words,
                         std::string_view text = {}) {
  const std::size_t bytes = words.size_bytes() + text.size();
  const std::size_t size = 1 + (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
  if (bytes >> 32 != 0) return false;
  std::uint64_t* const at = log.room(size);
  if (at == nullptr) return false;
  at[size - 1] = 0;
  at[0] = std::uint64_t{bytes} << 32 | kind;
  if (!words.empty()) std::memcpy(at + 1, words.data(), words.size_bytes());
  if (!text.empty()) std::memcpy(at + 1 + words.size(), text.data(), text.size());
  log.commit(at + size);
  return true;
}

/// Calls `visit(kind, bytes)` for each record of `count` words; bytes begin at a whole word. False
/// where something is not a record, and what follows it is left out.
template <typename Visit>
bool for_each_framed(const std::uint64_t* words, std::size_t count, Visit&& visit) {
  for (std::size_t at = 0; at < count;) {
    const auto bytes = static_cast<std::size_t>(words[at] >> 32);
    const std::size_t size = 1 + (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
    if (size > count - at) return false;
    visit(static_cast<std::uint32_t>(words[at] & 0xffffffff),
          std::string_view(reinterpret_cast<const char*>(words + at + 1), bytes));
    at += size;
  }
  return true;
}

}  // namespace tbtrace::recorder::journal
