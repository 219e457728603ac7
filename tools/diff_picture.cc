#include "diff_picture.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <tbtrace/compare_page.h>

namespace tbtrace::tools {
namespace {

/// `a.json.gz`, or `a.json.gz and 2 more`.
std::string side_name(const std::vector<std::string>& runs) {
  if (runs.empty()) return {};
  std::string name = std::filesystem::path(runs.front()).filename().string();
  if (name.empty()) name = runs.front();
  if (runs.size() > 1) name += " and " + std::to_string(runs.size() - 1) + " more";
  return name;
}

/// The line of diff's text that has the step's figures.
std::string step_line(const Diff& diff) {
  const Result<std::string> text = diff_text(diff, {.row_limit = 0});
  if (!text.ok()) return {};
  const std::size_t begin = text->find("step: ");
  if (begin == std::string::npos) return {};
  return text->substr(begin, text->find('\n', begin) - begin);
}

}  // namespace

DiffPicture diff_picture(const OptionParser& parser) {
  std::string format = parser.text("format");
  if (format.empty()) {
    format = format_of_suffix(parser.standard().output,
                              {{".svg", "svg"}, {".html", "html"}, {".htm", "html"}});
  }
  if (format == "svg") return DiffPicture::svg;
  return format == "html" ? DiffPicture::html : DiffPicture::none;
}

Result<std::string> diff_svg_text(const Diff& diff, const SideStacks& stacks,
                                  const DiffPictureOptions& options) {
  if (stacks.base.size() < diff.base_names.size() ||
      stacks.changed.size() < diff.new_names.size()) {
    return Status(StatusCode::invalid_argument,
                  "a baseline has no stacks, so there is no flame graph of the difference: name "
                  "the traces, or choose another format");
  }
  const auto difference = [&](StackWeight weight) {
    return flame_difference(stacks.base, stacks.changed,
                            {.weight = weight, .step_ns = diff.step.base_ns});
  };
  Result<FlameDifference> cpu = difference(StackWeight::cpu);
  if (!cpu.ok()) return cpu.status();
  Result<FlameDifference> device = difference(StackWeight::device);
  if (!device.ok()) return device.status();
  const StackWeight weight = options.weight.value_or(telling_weight(*cpu, *device));
  const bool is_device = weight == StackWeight::device;
  DifferenceSvgOptions svg = {
      .title = is_device ? "What changed: GPU time" : "What changed: time on the host",
      .subtitles = {side_name(diff.base_names) + " -> " + side_name(diff.new_names)}};
  if (std::string step = step_line(diff); !step.empty()) svg.subtitles.push_back(std::move(step));
  return difference_svg(is_device ? *device : *cpu, svg);
}

Result<std::string> diff_page_text(const Diff& diff, const SideStacks& stacks,
                                   const DiffPictureOptions& options) {
  return compare_page(diff, stacks.base, stacks.changed,
                      {.title = options.title, .bytes = options.bytes});
}

OptionGroup diff_picture_options() {
  return {
      "Page and flame graph",
      {{.name = "title", .value = "TEXT", .help = "of the page (default: the names of the runs)"},
       {.name = "limit",
        .value = "SIZE",
        .help = "size of the page, such as 500KB; rows and frames are left out to keep it, and "
                "counted in the page",
        .otherwise = "2MB"},
       {.name = "weight",
        .value = "WHAT",
        .help = "of the flame graph: time on the host or on GPUs (default: on GPUs, if that "
                "changed at least half as much)",
        .choices = {"self_cpu_time_total", "self_device_time_total"}}}};
}

}  // namespace tbtrace::tools
