// Which rows of one side are others of the other side under a new name. Pure function.
#pragma once

#include <map>
#include <span>
#include <string_view>

#include <tbtrace/diff.h>

namespace tbtrace::analyses {

struct RowMatch {
  std::string_view key;         ///< on the side of the base
  std::string_view matched_by;  ///< `fusion`, `shape`, `operator`
};

/// Of operators or kernels that the base does not have: by their name, the one that they took the
/// place of. None for other divisions. Views into the runs.
std::map<std::string_view, RowMatch> renamed_rows(std::span<const RunFigures> base,
                                                  std::span<const RunFigures> changed, DiffBy by);

}  // namespace tbtrace::analyses
