// Opens inputs by their paths: files, standard input (`-`), and members of archives
// (`traces.tar.gz/rank0.json`), which look like paths below a file.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "io/archives/unpacked.h"
#include "io/rereadable.h"
#include "io/source.h"

namespace tbtrace::io {

struct MemberPath {
  std::string archive;
  std::string member;
};

/// nullopt unless a part of the path is a file.
std::optional<MemberPath> member_path(const std::string& path);

/// Opens an input to read it once, from its start to its end; a file's content as it is.
Result<std::unique_ptr<ByteSource>> open_input(const std::string& path);

/// Opens an input to read it more than once.
Result<std::unique_ptr<Rereadable>> open_rereadable(const std::string& path);

}  // namespace tbtrace::io
