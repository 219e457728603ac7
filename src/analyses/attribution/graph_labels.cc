#include "analyses/attribution/graph_labels.h"

#include <cstddef>

namespace tbtrace::analyses {
namespace {

/// The collector of torch 2.14 and 2.15 writes the annotations of a node as one text,
/// `[{"name": "attention", "stream": 61}]`, outermost scope first. Names with escapes stay in it.
std::string_view innermost_name(std::string_view annotation) {
  constexpr std::string_view kName = "\"name\": \"";
  if (!annotation.starts_with('[')) return annotation;
  const std::size_t found = annotation.rfind(kName);
  if (found == std::string_view::npos) return annotation;
  const std::string_view rest = annotation.substr(found + kName.size());
  const std::size_t end = rest.find_first_of("\"\\");
  const bool is_whole = end != std::string_view::npos && rest[end] == '"';
  return is_whole ? rest.substr(0, end) : annotation;
}

}  // namespace

bool is_graph_launch(std::string_view call) {
  return call.find("GraphLaunch") != std::string_view::npos;
}

GraphLabels::GraphLabels(const Trace& trace)
    : trace_(trace),
      nodes_(trace.argument(Argument::graph_node_id)),
      has_labels_(!trace.argument(Argument::label).empty() ||
                  !trace.argument(Argument::module_label).empty() ||
                  !trace.argument(Argument::annotation).empty()) {}

std::string_view GraphLabels::of(EventId activity) const {
  if (!has_labels_ || nodes_.integer(activity).value_or(0) == 0) return {};
  for (const Argument argument : {Argument::label, Argument::module_label}) {
    const std::string_view label = trace_.argument_text(activity, argument);
    if (!label.empty()) return label;
  }
  return innermost_name(trace_.argument_text(activity, Argument::annotation));
}

}  // namespace tbtrace::analyses
