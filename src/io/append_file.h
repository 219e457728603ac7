// A file that grows while others read it. To put another in its place, implement AppendFile.
// An AppendFile owns its handle. One thread at a time.
// What did not fit can be tried again: how much was taken is always told.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <tbtrace/status.h>

namespace tbtrace::io {

class AppendFile {
 public:
  struct Written {
    std::size_t bytes = 0;  // the first ones of those given
    Status status = {};     // why it is not all of them
  };

  virtual ~AppendFile() = default;

  virtual Written append(std::string_view bytes) = 0;
};

/// Makes a file; an existing one is a failure.
Result<std::unique_ptr<AppendFile>> create_append_file(const std::string& path);

/// As create_append_file() is, for doubles.
using AppendFileMaker = std::function<Result<std::unique_ptr<AppendFile>>(const std::string&)>;

}  // namespace tbtrace::io
