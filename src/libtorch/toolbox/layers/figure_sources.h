// How the figures of results were obtained, for people and programs. Constants.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/model_summary.h>

namespace tbtrace::libtorch {

struct FigureSource {
  std::string_view name;     ///< of the figures in JSON
  std::string_view figures;  ///< for people
  std::string_view source;   ///< `counted`, `measured`, `estimated` or `not recorded`
  std::string_view how;      ///< for people; begins with the source
};

std::vector<FigureSource> summary_sources(const ModelSummary& summary);

/// `{"macs": "counted", ...}`.
std::string sources_json(const std::vector<FigureSource>& sources);

}  // namespace tbtrace::libtorch
