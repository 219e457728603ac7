#include "libtorch/toolbox/layers/figure_sources.h"

#include "wire/json_text.h"

namespace tbtrace::libtorch {

std::vector<FigureSource> summary_sources(const ModelSummary& summary) {
  std::vector<FigureSource> sources;
  const FigureSource parameters = {"parameters", "Parameters and buffers", "counted",
                                   "counted from the model's tensors, each tensor once"};
  const FigureSource no_parameters = {"parameters", "Parameters and buffers", "not recorded",
                                      "not recorded, because no model was given"};
  sources.push_back(summary.has_model ? parameters : no_parameters);
  sources.push_back({"operations", "MACs and FLOPs", "counted",
                     "counted from the operators that ran (docs/formats/flops.md has the rules)"});
  if (summary.total().activations) {
    sources.push_back({"activations", "Shapes and activations", "counted",
                       "counted from the tensors that operators gave"});
  } else {
    sources.push_back({"activations", "Shapes and activations", "not recorded", "not recorded"});
  }
  sources.push_back({"times", "Times", "measured",
                     "measured in one run, while it was recorded; benchmark() measures without"});
  return sources;
}

std::string sources_json(const std::vector<FigureSource>& sources) {
  std::string json = "{";
  for (const FigureSource& source : sources) {
    if (json.size() > 1) json += ", ";
    wire::append_json_string(json, source.name);
    json += ": ";
    wire::append_json_string(json, source.source);
  }
  return json + "}";
}

}  // namespace tbtrace::libtorch
