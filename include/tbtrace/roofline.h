// A roofline as a neutral result: how fast operators computed, over how many operations they did
// per byte, under what the device allows. Owns its texts. Plain values: any number of threads may
// read one while none changes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/status.h>

namespace TBTRACE_EXPORT tbtrace {

struct RooflinePoint {
  std::string name;
  std::string details;  ///< more lines for a tooltip, such as input shapes; may be empty
  std::string precision;
  std::uint64_t count = 0;
  std::int64_t time_ns = 0;
  double flops_per_byte = 0;
  double flops_per_s = 0;
  std::optional<double> roof_flops_per_s;  ///< what flops_per_byte allows
  std::optional<bool> is_memory_bound;
};

/// The peak rate of some precisions.
struct RooflinePeak {
  std::string precisions;  ///< `float16, bfloat16`; may be empty
  double flops_per_s = 0;
};

struct Roofline {
  std::vector<RooflinePoint> points;
  std::vector<RooflinePeak> peaks;  ///< highest first
  std::optional<double> bytes_per_s;
  std::int64_t total_time_ns = 0;  ///< also of what is not in `points`
  std::string time = "device time";
  std::string device;  ///< its name and where its peaks are from; may be empty
};

struct RooflineSvgOptions {
  std::string title = "Roofline";
  std::string subtitle = {};  ///< such as the name of the file
  int width = 1000;           ///< px, from 400 to 20,000
  int height = 640;           ///< px, from 300 to 20,000
};

/// An SVG picture: a dot per point, whose area is its time, under the lines of the peaks and of the
/// memory. Names are whole in the tooltips. Fails for a size out of range.
Result<std::string> roofline_svg(const Roofline& roofline, const RooflineSvgOptions& options = {});

}  // namespace tbtrace
