// A roofline picture: how fast operators compute, over how many operations they do per byte.
// Any thread.
#pragma once

#include <string>

#include <tbtrace/export.h>
#include <tbtrace/operator_work.h>

namespace TBTRACE_EXPORT tbtrace {

struct RooflineOptions {
  std::string title = "Roofline";
  std::string subtitle = {};  ///< such as the name of the file
  int width = 1000;           ///< px, at least 400
  int height = 640;           ///< px, at least 300
};

/// An SVG document. Each row that has a rate and an intensity is a dot, whose area is its time; the
/// lines are the peaks of the precisions that occur. Names are whole in the tooltips.
std::string roofline_svg(const OperatorWorkSummary& summary, const RooflineOptions& options = {});

}  // namespace tbtrace
