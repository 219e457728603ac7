// Buffers text on its way to a sink: it is appended in small pieces and written in large ones.
// Uses a ByteSink, which must outlive it. One thread at a time.
// After a failed write nothing more is written; finish() returns that failure.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <tbtrace/status.h>

#include "io/sink.h"

namespace tbtrace::io {

class TextSink {
 public:
  explicit TextSink(ByteSink& sink) : sink_(sink) {}
  TextSink(const TextSink&) = delete;
  TextSink& operator=(const TextSink&) = delete;

  /// Text that has not been written yet; append to it.
  std::string& text() { return text_; }

  /// Call this between pieces: writes the text once there is enough of it. False after a failed
  /// write: generating more text is pointless.
  bool flow() {
    if (text_.size() >= kEnough) hand_on();
    return status_.ok();
  }

  /// Writes the remaining text. The sink stays open.
  Status finish() {
    hand_on();
    return status_;
  }

 private:
  static constexpr std::size_t kEnough = std::size_t{64} << 10;

  void hand_on() {
    if (status_.ok() && !text_.empty()) status_ = sink_.write(text_);
    text_.clear();
  }

  ByteSink& sink_;
  std::string text_;
  Status status_;
};

/// The whole text that `write(TextSink&)` produces.
template <typename Write>
std::string text_of(const Write& write) {
  std::string text;
  const std::unique_ptr<ByteSink> memory = memory_sink(text);
  TextSink out(*memory);
  write(out);
  [[maybe_unused]] const Status memory_takes_all = out.finish();
  return text;
}

}  // namespace tbtrace::io
