#include "writers/tables/write_file.h"

#include <memory>

#include <tbtrace/report.h>

namespace tbtrace {

Status writers::write_file(const std::string& path, bool overwrite,
                           const std::function<Status(io::ByteSink&)>& write) {
  if (path == "-") return write(*io::standard_output());
  Result<std::unique_ptr<io::ByteSink>> sink = io::create_file(path, {.overwrite = overwrite});
  if (!sink.ok()) return sink.status();
  if (Status written = write(**sink); !written.ok()) return written;
  return (*sink)->close();
}

Status write_text(std::string_view text, const std::string& path, bool overwrite) {
  return writers::write_file(path, overwrite, [&](io::ByteSink& sink) { return sink.write(text); });
}

Status check_output(const std::string& path, bool overwrite) {
  return path == "-" ? Status() : io::check_place(path, overwrite);
}

}  // namespace tbtrace
