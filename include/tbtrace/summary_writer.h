// SummaryWriter: scalars, texts, histograms and pictures for TensorBoard, with the names of
// torch.utils.tensorboard.SummaryWriter. Does not need LibTorch; <tbtrace/summary_tensor.h> adds
// tensors. A writer owns its files and a thread that writes them; any number of threads may call it
// at once. Wrong arguments throw std::invalid_argument; file system failures never throw: see
// status(). In texts that are not UTF-8, the invalid bytes become U+FFFD.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/status.h>

namespace TBTRACE_EXPORT tbtrace {

enum class WhenFull : std::uint8_t {
  block,  ///< the caller waits for room, as in Python
  drop,   ///< the value is dropped and counted: see SummaryWriter::dropped()
};

struct SummaryWriterOptions {
  /// A TensorBoard run directory, created if missing. Empty:
  /// `runs/<Mon>DD_HH-MM-SS_<host><comment>`.
  std::string log_dir = {};
  std::string comment = {};  ///< used only if `log_dir` is empty
  /// Hides what an earlier writer of this directory wrote at this step and later.
  std::optional<std::int64_t> purge_step = std::nullopt;
  /// How many values may wait for the writing thread, at most 64 MiB of them. (In Python 10 by
  /// default, and they wait much longer.)
  std::size_t max_queue = 10'000;
  double flush_secs = 120;           ///< at most this long, plus 0.01 s, until they are in the file
  std::string filename_suffix = {};  ///< appended to the file's name
  WhenFull when_full = WhenFull::block;
};

/// A hyperparameter: a number, a string or a bool.
class HParam {
 public:
  // NOLINTBEGIN(google-explicit-constructor): so that lists can be written as in Python
  HParam(bool value) : value_(value) {}
  HParam(const char* value) : value_(std::string(value)) {}
  HParam(std::string value) : value_(std::move(value)) {}
  HParam(std::string_view value) : value_(std::string(value)) {}
  template <typename Number>
  requires(std::integral<Number> || std::floating_point<Number>) HParam(Number value)
      : value_(static_cast<double>(value)) {}
  // NOLINTEND(google-explicit-constructor)

  const std::variant<double, std::string, bool>& value() const { return value_; }

 private:
  std::variant<double, std::string, bool> value_;
};

/// A chart of the Custom Scalars dashboard.
struct CustomChart {
  enum class Kind : std::uint8_t {
    multiline,  ///< one line per tag; each of `tags` is a regular expression, matched from the
                ///< start
    margin,     ///< three tags: a line, and the lower and upper end of a band around it
  };
  std::string title;
  Kind kind = Kind::multiline;
  std::vector<std::string> tags;
};

struct CustomCategory {
  std::string title;
  std::vector<CustomChart> charts;
};

/// 8-bit samples, row by row from the top, the `channels` of a pixel side by side.
struct Pixels {
  int width = 0;
  int height = 0;
  int channels = 3;  ///< 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
  std::span<const std::uint8_t> samples;
};

struct HistogramOptions {
  /// Bucket edges, ascending; values outside are left out. Empty: Python's `bins="tensorflow"`,
  /// whose edges grow by 10 % from 1e-12 to 1e20 on both sides of 0.
  std::span<const double> edges = {};
  std::size_t max_bins = 0;  ///< neighbours are joined until about this many are left; 0: all
};

/// Time of a value in seconds since 1970; now if missing or not finite.
using WallTime = std::optional<double>;

class SummaryWriter {
 public:
  using Scalars = std::vector<std::pair<std::string, double>>;
  using HParams = std::vector<std::pair<std::string, HParam>>;

  /// Creates the directory and the file. A directory has one writer at a time, because TensorBoard
  /// loses values if there are two. A second writer writes nothing, and status() says why.
  explicit SummaryWriter(SummaryWriterOptions options = {});
  SummaryWriter(const SummaryWriter&) = delete;
  SummaryWriter& operator=(const SummaryWriter&) = delete;
  /// Calls close().
  ~SummaryWriter();

  /// TensorBoard keeps scalars as 32-bit floats. Steps of a tag should increase: after a step that
  /// goes back, TensorBoard's default loader drops the tag's values at later steps.
  void add_scalar(std::string_view tag, double value, std::int64_t global_step = 0,
                  WallTime walltime = {});

  /// The value of a tensor with one element, on any device: `writer.add_scalar("loss", loss,
  /// step)`. Waits for it. Throws for a tensor that is not defined, complex, or of another size.
  template <typename Tensor>
  requires(!std::is_convertible_v<const Tensor&, double>) void add_scalar(
      std::string_view tag, const Tensor& value, std::int64_t global_step = 0,
      WallTime walltime = {}) {
    constexpr bool kIsTensor = requires {
      value.defined() && value.is_complex() && value.numel() != 1;
      value.template item<double>();
    };
    static_assert(kIsTensor, "the value of a scalar is a number, or a tensor with one element");
    if constexpr (kIsTensor) {
      if (!value.defined() || value.is_complex()) {
        throw std::invalid_argument("a tensor of real numbers is needed");
      }
      if (value.numel() != 1) {
        throw std::invalid_argument("a scalar is one element, not " +
                                    std::to_string(value.numel()));
      }
      add_scalar(tag, static_cast<double>(value.template item<double>()), global_step, walltime);
    }
  }

  /// One chart with one line per name. As in Python, each line is a run of its own,
  /// `<log_dir>/<main_tag>_<name>`, with the tag `main_tag`.
  void add_scalars(std::string_view main_tag, const Scalars& tag_scalar_dict,
                   std::int64_t global_step = 0, WallTime walltime = {});

  /// Markdown, under the tag `<tag>/text_summary` as in Python.
  void add_text(std::string_view tag, std::string_view text_string, std::int64_t global_step = 0,
                WallTime walltime = {});

  /// Values that are not finite are left out. Throws if there are no values.
  void add_histogram(std::string_view tag, std::span<const float> values,
                     std::int64_t global_step = 0, const HistogramOptions& options = {},
                     WallTime walltime = {});
  void add_histogram(std::string_view tag, std::span<const double> values,
                     std::int64_t global_step = 0, const HistogramOptions& options = {},
                     WallTime walltime = {});

  /// Counts of existing buckets: `bucket_counts[i]` values are below `bucket_limits[i]` and not
  /// below the previous limit.
  void add_histogram_raw(std::string_view tag, double min, double max,
                         std::span<const double> bucket_limits,
                         std::span<const double> bucket_counts, std::int64_t global_step = 0,
                         WallTime walltime = {});

  /// A PNG file's bytes.
  void add_image(std::string_view tag, std::string_view png, std::int64_t global_step = 0,
                 WallTime walltime = {});
  void add_image(std::string_view tag, const Pixels& pixels, std::int64_t global_step = 0,
                 WallTime walltime = {});

  /// A run below this one, `<log_dir>/<run_name>`, with the hyperparameters and the resulting
  /// metrics. Without a name, the name is the current time, as in Python; `.` is this run itself.
  void add_hparams(const HParams& hparam_dict, const Scalars& metric_dict,
                   std::string_view run_name = {}, std::int64_t global_step = 0);

  /// The Custom Scalars dashboard. TensorBoard shows the last layout of a run.
  void add_custom_scalars(const std::vector<CustomCategory>& layout);

  /// Precision and recall at thresholds from 0 to 1. `predictions` are from 0 to 1, `labels` say
  /// which are right, `weights` how much each counts (empty: 1 each). At most 127 thresholds.
  void add_pr_curve(std::string_view tag, std::span<const std::uint8_t> labels,
                    std::span<const float> predictions, std::int64_t global_step = 0,
                    int num_thresholds = 127, std::span<const float> weights = {},
                    WallTime walltime = {});

  /// Waits until everything added is in the file (handed to the operating system). Returns the
  /// failure if something could not be written.
  Status flush();

  /// flush(), then releases the directory. Values added later go to a new file, as in Python.
  Status close();

  /// The last failure that still applies: no directory, a full disk. Values that could not be
  /// written wait for the next attempt, up to `max_queue`; the rest are dropped.
  Status status() const;

  /// Number of dropped values: the queue was full, or there is no file.
  std::uint64_t dropped() const;

  const std::string& log_dir() const;

 private:
  class Runs;

  template <typename Number>
  void add_values(std::string_view tag, std::span<const Number> values, std::int64_t global_step,
                  const HistogramOptions& options, WallTime walltime);

  std::unique_ptr<Runs> runs_;
};

}  // namespace tbtrace
