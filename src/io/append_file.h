// A file that grows while others read it. To substitute another kind of file, implement AppendFile.
// An AppendFile owns its handle. One thread at a time.
// append() returns how many bytes were written, so the rest can be tried again.
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
    std::size_t bytes = 0;  // number of bytes written, from the start
    Status status = {};     // the failure if not all were written
  };

  virtual ~AppendFile() = default;

  virtual Written append(std::string_view bytes) = 0;
};

/// Creates a file; an existing one is a failure.
Result<std::unique_ptr<AppendFile>> create_append_file(const std::string& path);

/// The type of create_append_file(), so that tests can substitute it.
using AppendFileMaker = std::function<Result<std::unique_ptr<AppendFile>>(const std::string&)>;

}  // namespace tbtrace::io
