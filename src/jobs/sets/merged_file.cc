#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/jobs.h>

#include "io/archives/input.h"
#include "io/archives/unpacked.h"
#include "jobs/sets/file_facts.h"

namespace tbtrace {

bool is_merged_trace(const std::string& path) {
  if (path == "-") return false;
  Result<std::unique_ptr<io::ByteSource>> file = io::open_input(path);
  if (!file.ok()) return false;
  Result<io::Unpacked> content = io::unpacked(*std::move(file));
  if (!content.ok()) return false;
  constexpr std::size_t kStart = 1024;
  const Result<std::string> start = io::peek(content->source, kStart);
  return start.ok() && jobs::begins_as_merged(*start);
}

}  // namespace tbtrace
