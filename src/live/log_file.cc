#include "live/log_file.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "inputs/log_file_name.h"
#include "io/sink.h"

namespace tbtrace::live {

std::string path_of(const LogFileName& name) {
  return (std::filesystem::path(name.directory) /
          inputs::log_file_name(name.worker, name.time_ns, name.use_gzip))
      .string();
}

Status write_file(const WriteTrace& write, const std::string& path, bool use_gzip, bool overwrite) {
  Result<std::unique_ptr<io::ByteSink>> sink = io::create_file(path, {.overwrite = overwrite});
  if (!sink.ok()) return sink.status();
  std::unique_ptr<io::ByteSink> out = use_gzip ? io::gzip_sink(*std::move(sink)) : *std::move(sink);
  return write(*out);
}

Result<std::string> write_log_file(const WriteTrace& write, const LogFileName& name) {
  LogFileName tried = name;
  // Another process may take a name between the check and the rename; then try the next name.
  for (;; ++tried.time_ns) {
    const std::string path = path_of(tried);
    const Status written = write_file(write, path, name.use_gzip, false);
    if (written.ok()) return path;
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
      return Status(written.code(), path + ": " + written.message());
    }
  }
}

}  // namespace tbtrace::live
