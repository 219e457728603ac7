// Text on its way to a sink: it is made in small pieces and handed on in large ones.
// Uses a ByteSink, which must outlive it. One thread at a time.
// After a failed write nothing more is handed on; finish() returns that failure.
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

  /// What was not handed on yet; text is appended to it.
  std::string& text() { return text_; }

  /// To be called between pieces: hands the text on once there is enough of it. False after a
  /// failed write: there is no use in making more.
  bool flow() {
    if (text_.size() >= kEnough) hand_on();
    return status_.ok();
  }

  /// Hands on what is left. The sink stays open.
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

/// The whole text that `write(TextSink&)` makes.
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
