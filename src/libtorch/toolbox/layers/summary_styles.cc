#include "libtorch/toolbox/layers/summary_styles.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

#include "base/utf8.h"
#include "writers/tables/prefixed_number.h"
#include "writers/tables/shown_cell.h"

namespace tbtrace::libtorch {
namespace {

std::string fixed(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

/// `25,557,032`.
std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string megabytes(std::uint64_t bytes) { return fixed(static_cast<double>(bytes) / 1e6, 2); }

std::uint64_t bytes_of_shape(const TensorShape& shape) {
  const std::string& type = shape.type;
  std::uint64_t bytes = 4;
  if (type == "float64" || type == "int64" || type == "complex64") bytes = 8;
  if (type == "float16" || type == "bfloat16" || type == "int16") bytes = 2;
  if (type == "int8" || type == "uint8" || type == "bool") bytes = 1;
  for (const std::int64_t size : shape.sizes) bytes *= static_cast<std::uint64_t>(size);
  return bytes;
}

/// A line of torchinfo's table: the cells of its five columns.
using Line = std::array<std::string, 5>;

/// Where a layer is in the tree: the lines that lead to it.
std::vector<std::string> branches(const std::vector<LayerCost>& layers) {
  std::vector<std::string> texts;
  texts.reserve(layers.size());
  for (const LayerCost& layer : layers) {
    std::string text;
    for (std::size_t level = 1; level < layer.depth; ++level) text += "│    ";
    if (layer.depth > 0) text += "├─";
    texts.push_back(std::move(text));
  }
  return texts;
}

std::string first_shape(const std::vector<TensorShape>& shapes) {
  return shapes.empty() ? "--" : sizes_text(shapes.front().sizes);
}

std::vector<Line> torchinfo_lines(const ModelSummary& summary) {
  const std::vector<std::string> lead = branches(summary.layers);
  std::map<std::size_t, int> number_at;  // by depth
  std::vector<Line> lines;
  for (std::size_t at = 0; at < summary.layers.size(); ++at) {
    const LayerCost& layer = summary.layers[at];
    if (layer.kind == LayerKind::function) continue;
    Line line;
    line[0] = lead[at] + writers::printable(layer.type);
    if (layer.depth > 0) {
      line[0] += " (" + writers::printable(layer.name) + "): " + std::to_string(layer.depth) + "-" +
                 std::to_string(++number_at[layer.depth]);
    }
    line[1] = first_shape(layer.inputs);
    line[2] = first_shape(layer.outputs);
    const bool is_tied = layer.parameters > 0 && layer.tied_parameters == layer.parameters;
    line[3] = layer.parameters == 0 ? "--"
              : is_tied             ? "(recursive)"
                                    : with_commas(layer.parameters);
    line[4] = layer.macs.value_or(0) == 0 ? "--" : with_commas(*layer.macs);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string padded(const std::string& text, std::size_t width) {
  const std::size_t length = utf8_length(text);
  return length >= width ? text : text + std::string(width - length, ' ');
}

/// A number with its unit, as Flops Profiler shortens it: `4.09 GMACs`.
std::string short_number(std::uint64_t number, const char* unit) {
  std::string text = writers::prefixed_number(static_cast<double>(number));
  text += unit;
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string share_text(double part, double whole) {
  return whole > 0 ? fixed(100 * part / whole, 2) + "%" : "0.00%";
}

std::string time_text(std::int64_t ns) { return writers::shown_cell("time_ns", Cell(ns)); }

std::int64_t time_of(const LayerCost& layer, bool on_device) {
  return on_device ? layer.device_time_total_ns : layer.cpu_time_total_ns;
}

/// The cost of a layer in brackets.
std::string costs_text(const LayerCost& layer, const ModelSummary& summary) {
  const LayerCost& total = summary.total();
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return share_text(static_cast<double>(part), static_cast<double>(whole));
  };
  std::vector<std::string> parts;
  if (summary.has_model) {
    parts.push_back(short_number(layer.parameters, "") + " = " +
                    share(layer.parameters, total.parameters) + " Params");
  }
  if (layer.macs) {
    parts.push_back(short_number(*layer.macs, "MACs") + " = " +
                    share(*layer.macs, total.macs.value_or(0)) + " MACs");
  } else {
    parts.emplace_back("MACs: no rule");
  }
  const std::int64_t ns = time_of(layer, summary.on_device);
  parts.push_back(
      time_text(ns) + " = " +
      share_text(static_cast<double>(ns), static_cast<double>(time_of(total, summary.on_device))) +
      " latency");
  if (const auto rate = layer.flops_per_s()) {
    parts.push_back(writers::prefixed_number(*rate) + "FLOPS");
  }
  std::string text = "(";
  for (const std::string& part : parts) text += (text.size() > 1 ? ", " : "") + part;
  return text + ")";
}

struct TypeSum {
  std::uint64_t parameters = 0;
  std::uint64_t macs = 0;
  std::uint64_t flops = 0;
  std::int64_t ns = 0;
};

std::string top_text(const std::map<std::string, TypeSum>& sums, std::size_t top,
                     double (*value)(const TypeSum&), std::string (*text)(const TypeSum&)) {
  std::vector<std::pair<std::string, TypeSum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& one, const auto& other) {
    return value(one.second) > value(other.second);
  });
  std::string line = "{";
  for (std::size_t at = 0; at < std::min(top, sorted.size()); ++at) {
    line += (at > 0 ? ", '" : "'") + writers::printable(sorted[at].first) + "': '" +
            text(sorted[at].second) + "'";
  }
  return line + "}";
}

std::string depths_text(const ModelSummary& summary, std::size_t top) {
  std::string text;
  for (std::size_t depth = 0; depth <= summary.depth; ++depth) {
    std::map<std::string, TypeSum> sums;
    for (const LayerCost& layer : summary.layers) {
      if (layer.depth != depth) continue;
      TypeSum& sum = sums[layer.type];
      sum.parameters += layer.parameters;
      sum.macs += layer.macs.value_or(0);
      sum.flops += layer.flops.value_or(0);
      sum.ns += time_of(layer, summary.on_device);
    }
    text += "depth " + std::to_string(depth) + ":\n";
    text += "    params   - " +
            top_text(
                sums, top, [](const TypeSum& sum) { return static_cast<double>(sum.parameters); },
                [](const TypeSum& sum) { return short_number(sum.parameters, ""); }) +
            "\n";
    text += "    MACs     - " +
            top_text(
                sums, top, [](const TypeSum& sum) { return static_cast<double>(sum.macs); },
                [](const TypeSum& sum) { return short_number(sum.macs, "MACs"); }) +
            "\n";
    text += "    flops    - " +
            top_text(
                sums, top, [](const TypeSum& sum) { return static_cast<double>(sum.flops); },
                [](const TypeSum& sum) { return short_number(sum.flops, ""); }) +
            "\n";
    text += "    latency  - " +
            top_text(
                sums, top, [](const TypeSum& sum) { return static_cast<double>(sum.ns); },
                [](const TypeSum& sum) { return time_text(sum.ns); }) +
            "\n";
  }
  return text;
}

}  // namespace

std::string torchinfo_text(const ModelSummary& summary) {
  const std::vector<Line> lines = torchinfo_lines(summary);
  const Line headings = {"Layer (type (var_name):depth-idx)", "Input Shape", "Output Shape",
                         "Param #", "Mult-Adds"};
  std::array<std::size_t, 5> widths{};
  for (std::size_t column = 0; column < headings.size(); ++column) {
    widths[column] = utf8_length(headings[column]);
    for (const Line& line : lines) {
      widths[column] = std::max(widths[column], utf8_length(line[column]));
    }
    widths[column] += 2;
  }
  std::size_t whole = 0;
  for (const std::size_t width : widths) whole += width;
  const std::string rule = std::string(whole, '=') + "\n";
  const auto line_text = [&](const Line& line) {
    std::string text;
    for (std::size_t column = 0; column < line.size(); ++column) {
      text += padded(line[column], widths[column]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = rule + line_text(headings) + rule;
  for (const Line& line : lines) text += line_text(line);
  text += rule;
  const LayerCost& total = summary.total();
  if (summary.has_model) {
    text += "Total params: " + with_commas(total.parameters) + "\n";
    text += "Trainable params: " + with_commas(total.trainable_parameters) + "\n";
    text += "Non-trainable params: " + with_commas(total.frozen_parameters()) + "\n";
  }
  const double macs = static_cast<double>(total.macs.value_or(0));
  const char* const unit = macs >= 1e12 ? "T" : macs >= 1e9 ? "G" : macs >= 1e6 ? "M" : "";
  const double divisor = macs >= 1e12 ? 1e12 : macs >= 1e9 ? 1e9 : macs >= 1e6 ? 1e6 : 1;
  text += "Total mult-adds (" + std::string(*unit == 0 ? "1" : unit) +
          "): " + fixed(macs / divisor, *unit == 0 ? 0 : 2) + "\n" + rule;
  std::uint64_t input_bytes = 0;
  for (const TensorShape& input : total.inputs) input_bytes += bytes_of_shape(input);
  text += "Input size (MB): " + megabytes(input_bytes) + "\n";
  if (summary.has_model) {
    text += "Forward/backward pass size (MB, estimated): " + megabytes(summary.layer_bytes) + "\n";
    text += "Params size (MB): " + megabytes(total.parameter_bytes) + "\n";
    text += "Estimated Total Size (MB): " +
            megabytes(input_bytes + summary.layer_bytes + total.parameter_bytes) + "\n";
  }
  return text + rule;
}

std::string flops_profiler_text(const ModelSummary& summary, std::size_t top) {
  const LayerCost& total = summary.total();
  std::string text = "-------------------------- Model summary --------------------------\n";
  const auto line = [&](const char* name, const std::string& value) {
    text += padded(name, 32) + value + "\n";
  };
  if (summary.has_model) line("params:", short_number(total.parameters, ""));
  const std::uint64_t forward_macs = total.macs.value_or(0) - total.backward_macs;
  const std::uint64_t forward_flops = total.flops.value_or(0) - total.backward_flops;
  line("fwd MACs:", short_number(forward_macs, "MACs"));
  line("fwd flops:", short_number(forward_flops, ""));
  if (total.backward_macs > 0) {
    line("bwd MACs (counted):", short_number(total.backward_macs, "MACs"));
    line("bwd flops (counted):", short_number(total.backward_flops, ""));
  }
  line("latency:", time_text(time_of(total, summary.on_device)));
  if (const auto rate = total.flops_per_s()) {
    line("FLOPS:", writers::prefixed_number(*rate) + "FLOPS");
  }
  text += "\n------------- Top classes by params, MACs, flops, latency ---------\n";
  text += depths_text(summary, top);
  text += "\n-------------------------- Layers ---------------------------------\n";
  for (const LayerCost& layer : summary.layers) {
    text += std::string(2 * layer.depth, ' ');
    if (layer.depth > 0) text += "(" + writers::printable(layer.name) + "): ";
    text += writers::printable(layer.type) + costs_text(layer, summary) + "\n";
  }
  return text;
}

}  // namespace tbtrace::libtorch
