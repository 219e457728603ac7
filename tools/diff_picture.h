// What diff draws: the flame graph of the difference, and the page. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/diff.h>
#include <tbtrace/flame_difference.h>

#include "options.h"

namespace tbtrace::tools {

enum class DiffPicture : std::uint8_t { none, svg, html };

/// By --format, or by the name of the output.
DiffPicture diff_picture(const OptionParser& parser);

/// The stacks of the runs of both sides. A baseline has none.
struct SideStacks {
  std::vector<RunStacks> base;
  std::vector<RunStacks> changed;
};

/// What a picture is made of, besides the traces.
struct DiffPictureOptions {
  DiffPicture picture = DiffPicture::none;
  std::optional<StackWeight> weight = {};  ///< nullopt: the one that tells more
  std::string title = {};                  ///< of the page; empty: the names of the runs
  std::size_t bytes = 0;                   ///< of the page
};

/// Fails for a baseline, whose runs have no stacks.
Result<std::string> diff_svg_text(const Diff& diff, const SideStacks& stacks,
                                  const DiffPictureOptions& options);

Result<std::string> diff_page_text(const Diff& diff, const SideStacks& stacks,
                                   const DiffPictureOptions& options);

OptionGroup diff_picture_options();

}  // namespace tbtrace::tools
