#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <tbtrace/summary_writer.h>

#include "base/host_name.h"
#include "base/utf8.h"
#include "wire/tfrecord.h"
#include "writers/events/histogram_buckets.h"
#include "writers/events/png.h"
#include "writers/events/pr_curve.h"
#include "writers/events/queue.h"

namespace tbtrace {
namespace {

using writers::SummaryMoment;

constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // per value; TensorBoard reads no more

SummaryMoment moment_of(std::int64_t step, WallTime walltime) {
  return {walltime && std::isfinite(*walltime) ? *walltime : writers::wall_time_now(), step};
}

void require(bool condition, const std::string& otherwise) {
  if (!condition) throw std::invalid_argument(otherwise);
}

void require_size(std::size_t bytes) {
  require(bytes <= kMostBytes, "a value has 256 MiB at most, as TensorBoard reads no more");
}

/// A tag as valid UTF-8, which nearly all tags are already.
class Tag {
 public:
  explicit Tag(std::string_view tag) : text_(tag) {
    if (is_utf8(tag)) return;
    mended_ = to_utf8(tag);
    text_ = mended_;
  }
  Tag(const Tag&) = delete;
  Tag& operator=(const Tag&) = delete;

  std::string_view text() const { return text_; }

 private:
  std::string mended_;
  std::string_view text_;
};

/// As in Python: `runs/Nov21_09-05-59_host` and the comment.
std::string default_log_dir(const std::string& comment) {
  const std::time_t seconds = std::time(nullptr);
  std::tm local = {};
  ::localtime_r(&seconds, &local);
  // English month names, whatever the locale.
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("runs/{}{:02}_{:02}-{:02}-{:02}_{}{}", kMonths[local.tm_mon], local.tm_mday,
                     local.tm_hour, local.tm_min, local.tm_sec, host_name(), comment);
}

/// Part of a directory's name: without slashes and control characters.
std::string name_part(std::string_view text) {
  std::string part = to_utf8(text);
  std::replace_if(
      part.begin(), part.end(),
      [](char c) { return c == '/' || static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; }, '_');
  return part;
}

std::string below(const std::string& directory, const std::string& name) {
  return (std::filesystem::path(directory) / name).string();
}

}  // namespace

class SummaryWriter::Runs {
 public:
  explicit Runs(SummaryWriterOptions options)
      : log_dir(options.log_dir.empty() ? default_log_dir(options.comment)
                                        : std::move(options.log_dir)),
        queue({.max_events = options.max_queue,
               .flush_secs = options.flush_secs,
               .when_full = options.when_full,
               .filename_suffix = std::move(options.filename_suffix),
               .purge_step = options.purge_step}),
        main(queue.run(log_dir)) {}

  void add(const std::string& event) { queue.add(main, event); }

  const std::string log_dir;
  writers::SummaryQueue queue;
  const std::size_t main;
};

SummaryWriter::SummaryWriter(SummaryWriterOptions options) {
  require(std::isfinite(options.flush_secs) && options.flush_secs >= 0,
          "flush_secs is a number of seconds");
  require(options.filename_suffix.find('/') == std::string::npos,
          "filename_suffix is a part of a file's name, without '/'");
  runs_ = std::make_unique<Runs>(std::move(options));
}

SummaryWriter::~SummaryWriter() {
  // Files, locks and the thread belong to the process from which this one was forked.
  if (runs_->queue.is_forked()) static_cast<void>(runs_.release());
}

void SummaryWriter::add_scalar(std::string_view tag, double value, std::int64_t global_step,
                               WallTime walltime) {
  const Tag valid(tag);
  runs_->queue.add_scalar(runs_->main, moment_of(global_step, walltime), valid.text(),
                          static_cast<float>(value));
}

void SummaryWriter::add_scalars(std::string_view main_tag, const Scalars& tag_scalar_dict,
                                std::int64_t global_step, WallTime walltime) {
  const Tag valid(main_tag);
  const SummaryMoment moment = moment_of(global_step, walltime);
  for (const auto& [name, value] : tag_scalar_dict) {
    const std::size_t run =
        runs_->queue.run(below(runs_->log_dir, name_part(main_tag) + '_' + name_part(name)));
    runs_->queue.add_scalar(run, moment, valid.text(), static_cast<float>(value));
  }
}

void SummaryWriter::add_text(std::string_view tag, std::string_view text_string,
                             std::int64_t global_step, WallTime walltime) {
  require_size(text_string.size());
  runs_->add(writers::text_event(moment_of(global_step, walltime), to_utf8(tag) + "/text_summary",
                                 to_utf8(text_string)));
}

void SummaryWriter::add_histogram(std::string_view tag, std::span<const float> values,
                                  std::int64_t global_step, const HistogramOptions& options,
                                  WallTime walltime) {
  add_values(tag, values, global_step, options, walltime);
}

void SummaryWriter::add_histogram(std::string_view tag, std::span<const double> values,
                                  std::int64_t global_step, const HistogramOptions& options,
                                  WallTime walltime) {
  add_values(tag, values, global_step, options, walltime);
}

template <typename Number>
void SummaryWriter::add_values(std::string_view tag, std::span<const Number> values,
                               std::int64_t global_step, const HistogramOptions& options,
                               WallTime walltime) {
  require(!values.empty(), "The input has no element.");
  const std::span<const double> edges =
      options.edges.empty() ? writers::tensorflow_edges() : options.edges;
  require(edges.size() >= 2 && std::isfinite(edges.front()) && std::isfinite(edges.back()) &&
              std::is_sorted(edges.begin(), edges.end()),
          "edges of buckets are two numbers or more, ascending");
  runs_->add(writers::histogram_event(moment_of(global_step, walltime), to_utf8(tag),
                                      writers::histogram_buckets(values, edges, options.max_bins)));
}

void SummaryWriter::add_histogram_raw(std::string_view tag, double min, double max,
                                      std::span<const double> bucket_limits,
                                      std::span<const double> bucket_counts,
                                      std::int64_t global_step, WallTime walltime) {
  require(bucket_limits.size() == bucket_counts.size(),
          "len(bucket_limits) != len(bucket_counts), see the document.");
  require(std::is_sorted(bucket_limits.begin(), bucket_limits.end()) && min <= max,
          "limits of buckets are ascending numbers, and min is not above max");
  runs_->add(
      writers::histogram_event(moment_of(global_step, walltime), to_utf8(tag),
                               writers::buckets_of_counts(min, max, bucket_limits, bucket_counts)));
}

void SummaryWriter::add_image(std::string_view tag, std::string_view png, std::int64_t global_step,
                              WallTime walltime) {
  require_size(png.size());
  const std::optional<writers::PngSize> size = writers::png_size(png);
  require(size.has_value(),
          "a picture is a PNG file's bytes; pixels have an overload of their own");
  runs_->add(writers::image_event(moment_of(global_step, walltime), to_utf8(tag), size->width,
                                  size->height, png));
}

void SummaryWriter::add_image(std::string_view tag, const Pixels& pixels, std::int64_t global_step,
                              WallTime walltime) {
  const Result<std::string> png = writers::png_file(pixels);
  require(png.ok(), png.status().message());
  add_image(tag, std::string_view(*png), global_step, walltime);
}

void SummaryWriter::add_hparams(const HParams& hparam_dict, const Scalars& metric_dict,
                                std::string_view run_name, std::int64_t global_step) {
  const SummaryMoment moment = moment_of(global_step, {});
  const std::string start = writers::session_start_info_event(moment, hparam_dict);
  const std::string end = writers::session_end_info_event(moment);
  if (run_name == ".") {
    runs_->add(start);
    runs_->add(end);
    for (const auto& [metric, value] : metric_dict) add_scalar(metric, value, global_step);
    return;
  }
  std::string records;
  wire::append_record(records, start);
  wire::append_record(records, end);
  writers::ScalarEncoder scalars;
  for (const auto& [metric, value] : metric_dict) {
    scalars.append_record(records, moment, to_utf8(metric), static_cast<float>(value),
                          /*first_of_tag=*/true);
  }
  const std::string name =
      run_name.empty() ? fmt::format("{:.6f}", moment.wall_time) : std::string(run_name);
  runs_->queue.add_whole(runs_->queue.run(below(runs_->log_dir, name)), records,
                         2 + metric_dict.size());
}

void SummaryWriter::add_custom_scalars(const std::vector<CustomCategory>& layout) {
  for (const CustomCategory& category : layout) {
    for (const CustomChart& chart : category.charts) {
      require(chart.kind != CustomChart::Kind::margin || chart.tags.size() == 3,
              fmt::format("Expected 3 tags, got {}.", chart.tags.size()));
    }
  }
  runs_->add(writers::layout_event(moment_of(0, {}), layout));
}

void SummaryWriter::add_pr_curve(std::string_view tag, std::span<const std::uint8_t> labels,
                                 std::span<const float> predictions, std::int64_t global_step,
                                 int num_thresholds, std::span<const float> weights,
                                 WallTime walltime) {
  constexpr int kMost = 127;  // as in Python
  require(labels.size() == predictions.size() &&
              (weights.empty() || weights.size() == predictions.size()),
          "each prediction has a label, and a weight if there are weights");
  require(num_thresholds >= 2, "a curve has at least 2 thresholds");
  runs_->add(writers::pr_curve_event(
      moment_of(global_step, walltime), to_utf8(tag),
      writers::pr_curve(labels, predictions, weights,
                        static_cast<std::size_t>(std::min(num_thresholds, kMost)))));
}

Status SummaryWriter::flush() { return runs_->queue.flush(); }
Status SummaryWriter::close() { return runs_->queue.close(); }
Status SummaryWriter::status() const { return runs_->queue.status(); }
std::uint64_t SummaryWriter::dropped() const { return runs_->queue.dropped(); }
const std::string& SummaryWriter::log_dir() const { return runs_->log_dir; }

}  // namespace tbtrace
