// A sink that keeps nothing but the number of its bytes: for a writer that is only tried.
#pragma once

#include <cstdint>
#include <string_view>

#include "io/sink.h"

namespace tbtrace::io {

class DiscardedText final : public ByteSink {
 public:
  Status write(std::string_view bytes) override {
    bytes_ += bytes.size();
    return {};
  }
  Status close() override { return {}; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t bytes_ = 0;
};

}  // namespace tbtrace::io
