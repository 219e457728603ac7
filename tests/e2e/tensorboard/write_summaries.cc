// Does what a list of calls says with a SummaryWriter: write_summaries LOG_DIR CALLS [PURGE_STEP]
// CALLS is a file of JSON, a call a line, as summary_calls.py makes them. Texts are hexadecimal.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <simdjson.h>

#include <tbtrace/summary_writer.h>

namespace {

using simdjson::dom::element;

simdjson::dom::array items(element list) { return list.get_array().value(); }

std::string text(element hexadecimal) {
  const std::string_view digits = hexadecimal.get_string().value();
  std::string bytes;
  for (std::size_t at = 0; at + 1 < digits.size(); at += 2) {
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(at, 2)), nullptr, 16));
  }
  return bytes;
}

double number(element value) {
  if (!value.is_string()) return value.get_double().value();
  const std::string_view name = value.get_string().value();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return name == "inf" ? kInfinity : name == "-inf" ? -kInfinity : std::nan("");
}

template <typename Number>
std::vector<Number> numbers(element list) {
  std::vector<Number> all;
  for (const element value : items(list)) {
    all.push_back(static_cast<Number>(number(value)));
  }
  return all;
}

tbtrace::SummaryWriter::Scalars scalars(element list) {
  tbtrace::SummaryWriter::Scalars all;
  for (const element pair : items(list)) {
    all.emplace_back(text(pair.at(0)), number(pair.at(1)));
  }
  return all;
}

tbtrace::SummaryWriter::HParams hparams(element list) {
  tbtrace::SummaryWriter::HParams all;
  for (const element pair : items(list)) {
    const element value = pair.at(1);
    if (value.is_bool()) {
      all.emplace_back(text(pair.at(0)), value.get_bool().value());
    } else if (value.is_string()) {
      all.emplace_back(text(pair.at(0)), text(value));
    } else {
      all.emplace_back(text(pair.at(0)), number(value));
    }
  }
  return all;
}

std::vector<tbtrace::CustomCategory> layout(element list) {
  std::vector<tbtrace::CustomCategory> categories;
  for (const element category : items(list)) {
    categories.push_back({text(category.at(0)), {}});
    for (const element chart : items(category.at(1))) {
      const bool is_margin = chart.at(1).get_string().value() == "Margin";
      tbtrace::CustomChart& made = categories.back().charts.emplace_back();
      made.title = text(chart.at(0));
      made.kind =
          is_margin ? tbtrace::CustomChart::Kind::margin : tbtrace::CustomChart::Kind::multiline;
      for (const element tag : items(chart.at(2))) made.tags.push_back(text(tag));
    }
  }
  return categories;
}

void call(tbtrace::SummaryWriter& writer, element line) {
  const std::string_view name = line["call"].get_string().value();
  element tag_text;
  const std::string tag = line["tag"].get(tag_text) == simdjson::SUCCESS ? text(tag_text) : "";
  const std::int64_t step = line["step"].get_int64().value();
  const double walltime = line["walltime"].get_double().value();
  if (name == "add_scalar") {
    writer.add_scalar(tag, number(line["value"]), step, walltime);
  } else if (name == "add_scalars") {
    writer.add_scalars(tag, scalars(line["values"]), step, walltime);
  } else if (name == "add_text") {
    writer.add_text(tag, text(line["text"]), step, walltime);
  } else if (name == "add_histogram") {
    const auto edges = numbers<double>(line["edges"]);
    writer.add_histogram(
        tag, numbers<double>(line["values"]), step,
        {.edges = edges, .max_bins = static_cast<std::size_t>(number(line["max_bins"]))}, walltime);
  } else if (name == "add_histogram_raw") {
    writer.add_histogram_raw(tag, number(line["min"]), number(line["max"]),
                             numbers<double>(line["limits"]), numbers<double>(line["counts"]), step,
                             walltime);
  } else if (name == "add_image") {
    const auto samples = numbers<std::uint8_t>(line["samples"]);
    writer.add_image(tag,
                     {.width = static_cast<int>(number(line["width"])),
                      .height = static_cast<int>(number(line["height"])),
                      .channels = static_cast<int>(number(line["channels"])),
                      .samples = samples},
                     step, walltime);
  } else if (name == "add_pr_curve") {
    writer.add_pr_curve(tag, numbers<std::uint8_t>(line["labels"]),
                        numbers<float>(line["predictions"]), step, 127, {}, walltime);
  } else if (name == "add_hparams") {
    writer.add_hparams(hparams(line["hparams"]), scalars(line["metrics"]), text(line["run"]), step);
  } else if (name == "add_custom_scalars") {
    writer.add_custom_scalars(layout(line["layout"]));
  } else {
    throw std::invalid_argument("no such call: " + std::string(name));
  }
}

int run(int count, char** arguments) {
  if (count < 3) throw std::invalid_argument("write_summaries LOG_DIR CALLS [PURGE_STEP]");
  tbtrace::SummaryWriterOptions options = {.log_dir = arguments[1]};
  if (count > 3) options.purge_step = std::stoll(arguments[3]);
  tbtrace::SummaryWriter writer(options);
  std::ifstream calls(arguments[2]);
  simdjson::dom::parser parser;
  for (std::string line; std::getline(calls, line);) call(writer, parser.parse(line));
  const tbtrace::Status closed = writer.close();
  if (!closed.ok()) std::fprintf(stderr, "write_summaries: %s\n", closed.message().c_str());
  return closed.ok() && writer.dropped() == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "write_summaries: %s\n", error.what());
    return 2;
  }
}
