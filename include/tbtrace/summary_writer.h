// SummaryWriter: scalars, texts, histograms and pictures for TensorBoard, with the names that
// torch.utils.tensorboard.SummaryWriter has. Needs no LibTorch; <tbtrace/summary_tensor.h> adds
// tensors. A writer owns its files and a thread that writes them; any number of threads may call it
// at once. What the caller gets wrong throws std::invalid_argument. A file system that fails never
// does: see status(). Texts that are not UTF-8 have U+FFFD in the place of what is wrong.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/status.h>

namespace TBTRACE_EXPORT tbtrace {

enum class WhenFull : std::uint8_t {
  block,  ///< the caller waits for room, as in Python
  drop,   ///< the value is left out and counted: see SummaryWriter::dropped()
};

struct SummaryWriterOptions {
  /// A run of TensorBoard's; made where it is missing. Empty:
  /// `runs/<Mon>DD_HH-MM-SS_<host><comment>`.
  std::string log_dir = {};
  std::string comment = {};  ///< only without `log_dir`
  /// What an earlier writer of this directory wrote at this step and after is not shown any more.
  std::optional<std::int64_t> purge_step = std::nullopt;
  /// Values that wait for the writing thread; so do 64 MiB at most. (In Python 10 by default, which
  /// wait much longer for their turn.)
  std::size_t max_queue = 10'000;
  double flush_secs = 120;  ///< after this time at the latest, and 0.01 s, they are in the file
  std::string filename_suffix = {};  ///< behind the file's name
  WhenFull when_full = WhenFull::block;
};

/// A hyperparameter: a number, a text or a truth value.
class HParam {
 public:
  // NOLINTBEGIN(google-explicit-constructor): lists of them are written as in Python
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

/// A chart of the dashboard Custom Scalars.
struct CustomChart {
  enum class Kind : std::uint8_t {
    multiline,  ///< a line for each tag; each of `tags` is a regular expression, matched from the
                ///< start
    margin,     ///< three tags: a line, the lower and the upper end of a band around it
  };
  std::string title;
  Kind kind = Kind::multiline;
  std::vector<std::string> tags;
};

struct CustomCategory {
  std::string title;
  std::vector<CustomChart> charts;
};

/// 8-bit samples, row by row from the top, `channels` of a pixel side by side.
struct Pixels {
  int width = 0;
  int height = 0;
  int channels = 3;  ///< 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
  std::span<const std::uint8_t> samples;
};

struct HistogramOptions {
  /// Edges of buckets, ascending; values outside are left out. Empty: Python's `bins="tensorflow"`,
  /// which grow by 10 % from 1e-12 to 1e20 on both sides of 0.
  std::span<const double> edges = {};
  std::size_t max_bins = 0;  ///< neighbours are joined until there are about as many; 0: all
};

/// Seconds since 1970 for a value; the present time where it is missing or not finite.
using WallTime = std::optional<double>;

class SummaryWriter {
 public:
  using Scalars = std::vector<std::pair<std::string, double>>;
  using HParams = std::vector<std::pair<std::string, HParam>>;

  /// Makes the directory and the file. A directory has one writer at a time, as TensorBoard loses
  /// values of two; a second one writes nothing, and status() says why.
  explicit SummaryWriter(SummaryWriterOptions options = {});
  SummaryWriter(const SummaryWriter&) = delete;
  SummaryWriter& operator=(const SummaryWriter&) = delete;
  /// close()
  ~SummaryWriter();

  /// TensorBoard keeps scalars as 32-bit floats. For a tag, steps should grow: a step that goes
  /// back takes later values of the tag away in TensorBoard's default loader.
  void add_scalar(std::string_view tag, double value, std::int64_t global_step = 0,
                  WallTime walltime = {});

  /// One chart with a line for each name: as in Python, each is a run of its own,
  /// `<log_dir>/<main_tag>_<name>`, in which the tag is `main_tag`.
  void add_scalars(std::string_view main_tag, const Scalars& tag_scalar_dict,
                   std::int64_t global_step = 0, WallTime walltime = {});

  /// Markdown, under the tag `<tag>/text_summary` as in Python.
  void add_text(std::string_view tag, std::string_view text_string, std::int64_t global_step = 0,
                WallTime walltime = {});

  /// Values that are not finite are left out. Throws where there is no value at all.
  void add_histogram(std::string_view tag, std::span<const float> values,
                     std::int64_t global_step = 0, const HistogramOptions& options = {},
                     WallTime walltime = {});
  void add_histogram(std::string_view tag, std::span<const double> values,
                     std::int64_t global_step = 0, const HistogramOptions& options = {},
                     WallTime walltime = {});

  /// Counts of buckets that exist already: `bucket_counts[i]` values lie below `bucket_limits[i]`
  /// and not below the limit before it.
  void add_histogram_raw(std::string_view tag, double min, double max,
                         std::span<const double> bucket_limits,
                         std::span<const double> bucket_counts, std::int64_t global_step = 0,
                         WallTime walltime = {});

  /// A PNG file's bytes.
  void add_image(std::string_view tag, std::string_view png, std::int64_t global_step = 0,
                 WallTime walltime = {});
  void add_image(std::string_view tag, const Pixels& pixels, std::int64_t global_step = 0,
                 WallTime walltime = {});

  /// A run below this one, `<log_dir>/<run_name>`, with the hyperparameters and what came of them.
  /// Without a name it is the time, as in Python; `.` is this run itself.
  void add_hparams(const HParams& hparam_dict, const Scalars& metric_dict,
                   std::string_view run_name = {}, std::int64_t global_step = 0);

  /// The dashboard Custom Scalars. TensorBoard shows the last layout of a run.
  void add_custom_scalars(const std::vector<CustomCategory>& layout);

  /// Precision and recall at thresholds from 0 to 1. `predictions` are from 0 to 1, `labels` tell
  /// which are right, `weights` (empty: 1 each) how much each counts. At most 127 thresholds.
  void add_pr_curve(std::string_view tag, std::span<const std::uint8_t> labels,
                    std::span<const float> predictions, std::int64_t global_step = 0,
                    int num_thresholds = 127, std::span<const float> weights = {},
                    WallTime walltime = {});

  /// Waits until all that was added is in the file (the operating system has it); what went wrong.
  Status flush();

  /// flush(), and gives the directory back. What is added later goes to a new file, as in Python.
  Status close();

  /// The last failure that was not mended since: no directory, a full disk. Values that could not
  /// be written wait for the next attempt, up to `max_queue`; the rest is dropped.
  Status status() const;

  /// Values that were left out: the queue was full, or there is no file.
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
