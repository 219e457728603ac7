#include "writers/tables/torch_table.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/utf8.h"
#include "report/group_columns.h"
#include "report/row_order.h"

namespace tbtrace::writers {
namespace {

constexpr std::size_t kWidth = 12;
constexpr std::size_t kSpacing = 2;

/// `use_device` of torch's profiler, in upper case.
std::string device_name(DeviceType device) {
  if (device == DeviceType::privateuse1) return "PRIVATEUSE1";
  return std::string(device_type_name(device));
}

std::string time_text(double us, std::string_view unit) {
  constexpr double kMillisecond = 1000.0;
  constexpr double kSecond = 1000.0 * 1000.0;
  if (unit == "s" || (unit.empty() && us >= kSecond)) return fmt::format("{:.3f}s", us / kSecond);
  if (unit == "ms" || (unit.empty() && us >= kMillisecond)) {
    return fmt::format("{:.3f}ms", us / kMillisecond);
  }
  return fmt::format("{:.3f}us", us);
}

std::string share_text(double us, double total_us) {
  return total_us == 0 ? "NaN" : fmt::format("{:.2f}%", us * 100.0 / total_us);
}

std::string memory_text(std::int64_t bytes) {
  constexpr double kKilobyte = 1024;
  const auto value = static_cast<double>(bytes);
  const double size = std::abs(value);
  if (size >= kKilobyte * kKilobyte * kKilobyte) {
    return fmt::format("{:.2f} GB", value / (kKilobyte * kKilobyte * kKilobyte));
  }
  if (size >= kKilobyte * kKilobyte)
    return fmt::format("{:.2f} MB", value / (kKilobyte * kKilobyte));
  if (size >= kKilobyte) return fmt::format("{:.2f} KB", value / kKilobyte);
  return fmt::format("{} B", bytes);
}

/// Cut to the width with an ellipsis, which torch adds from three characters before the limit.
std::string name_text(const std::string& name, std::optional<int> width) {
  const auto length = static_cast<std::int64_t>(utf8_length(name));
  if (!width || length < *width - 3) return name;
  // A limit below three cuts from the end, as Python's slices do.
  const std::int64_t kept = *width >= 3 ? *width - 3 : length + *width - 3;
  return std::string(utf8_prefix(name, static_cast<std::size_t>(std::max<std::int64_t>(0, kept)))) +
         "...";
}

/// The tail of a path, as torch cuts it.
std::string path_text(const std::string& path, std::size_t width) {
  const std::size_t length = utf8_length(path);
  if (length <= width) return path;
  std::string_view tail(path);
  tail.remove_prefix(utf8_prefix(tail, length - width).size());
  if (utf8_length(tail) <= 3) return std::string(tail);
  tail.remove_prefix(utf8_prefix(tail, 3).size());
  return "..." + std::string(tail);
}

std::size_t limited(std::size_t width, std::optional<int> limit) {
  return limit ? std::min(width, static_cast<std::size_t>(std::max(0, *limit))) : width;
}

struct TorchColumn {
  std::string title;
  std::size_t width;
  bool left = false;
  bool is_shown = true;
};

constexpr std::size_t kLeastName = 24;  // on a line that is too short

/// Ends of titles, those of columns that are read first before others. Columns that are not listed,
/// which tell rows of a grouped table apart, come before all.
constexpr std::array kReadLast = std::to_array<std::string_view>(
    {"# of Calls", "Self CPU", " total", "Self CPU %", " %", " time avg", "CPU total %", " Mem"});

std::size_t reading_order(const std::string& title, const std::string& device) {
  if (title == "Self " + device) return 0;
  if (title.ends_with("FLOPs")) return kReadLast.size() + 1;
  for (std::size_t place = 0; place < kReadLast.size(); ++place) {
    if (title.ends_with(kReadLast[place])) return place + 1;
  }
  return 0;
}

class TorchTable {
 public:
  TorchTable(report::RowSource& rows, const report::RowOrder& order, const TableOptions& options,
             io::TextSink& out)
      : rows_(rows), facts_(rows.facts()), options_(options), order_(order), out_(out) {
    for (const GroupKey key : report::kGroupColumns) {
      if (report::has_group_column(facts_.by, key)) keys_.push_back(key);
    }
    key_widths_.resize(keys_.size());
    device_ = facts_.use_device ? device_name(*facts_.use_device) : "None";
    for (std::size_t number = 0; number < rows.size(); ++number) measure(rows.row(number));
    for (std::size_t place = 0; place < order.size(); ++place) {
      add_to_totals(rows.numbers(order[place]));
    }
    lay_out();
    if (options_.width > 0) fit();
  }

  void print() {
    print_head();
    report::ShownRows shown(rows_, order_, options_);
    while (const std::optional<std::size_t> number = shown.next()) {
      print_row(rows_.row(*number));
      if (!out_.flow()) return;
    }
    print_foot();
  }

 private:
  void print_head() {
    std::size_t length = 0;
    for (const TorchColumn& column : columns_) {
      if (!column.is_shown) continue;
      separator_.append(column.width, '-').append(kSpacing, ' ');
      length += column.width + kSpacing;
    }
    separator_ += '\n';
    const std::string line(length - kSpacing, '=');
    if (options_.header) text_ += line + "\n" + *options_.header + "\n";
    if (options_.top_level_events_only) {
      text_ += line + "\nThis report only display top-level ops statistics\n";
    }
    text_ += separator_;
    std::vector<std::string> titles;
    for (const TorchColumn& column : columns_) titles.push_back(column.title);
    print_cells(titles);
    text_ += separator_;
  }

  void print_foot() {
    text_ += separator_;
    text_ += "Self CPU time total: " + time_text(self_cpu_us_, options_.time_unit) + "\n";
    if (has_device_time_) {
      text_ += "Self " + device_ +
               " time total: " + time_text(self_device_us_, options_.time_unit) + "\n";
    }
    if (hidden_columns_ == 0) return;
    const std::string& how = options_.how_to_show_all_columns;
    text_ += fmt::format("... and {} more column{}{}{}\n", hidden_columns_,
                         hidden_columns_ == 1 ? "" : "s", how.empty() ? "" : "; ", how);
  }

  void add_to_totals(const OperatorRow& row) {
    self_cpu_us_ += row.self_cpu_time_total.us;
    if (report::counts_as_device_time(facts_, row))
      self_device_us_ += row.self_device_time_total.us;
  }

  /// Determines which columns there are, and their widths.
  void measure(const OperatorRow& row) {
    for (std::size_t key = 0; key < keys_.size(); ++key) {
      key_widths_[key] = std::max(key_widths_[key], utf8_length(key_text(row, keys_[key])));
    }
    has_device_time_ = has_device_time_ || row.self_device_time_total.us > 0;
    has_device_memory_ = has_device_memory_ || row.self_device_memory_usage_bytes > 0;
    has_shapes_ = has_shapes_ || !row.input_shapes.empty();
    has_overloads_ = has_overloads_ || !row.overload_name.empty();
    has_stack_ = has_stack_ || !row.stack.empty();
    longest_name_ = std::max(longest_name_, utf8_length(row.key));
    longest_shapes_ = std::max(longest_shapes_, utf8_length(shapes_text(row)));
    for (const std::string& frame : row.stack) {
      longest_frame_ = std::max(longest_frame_, utf8_length(frame));
    }
    if (row.flops > 0 && (least_flops_ == 0 || row.flops < least_flops_)) {
      least_flops_ = row.flops;
    }
  }

  void lay_out() {
    const std::size_t name_width = limited(longest_name_ + 4, options_.max_name_column_width);
    columns_.push_back({"Name", name_width});
    if (has_overloads_) columns_.push_back({"Overload Name", name_width});
    for (std::size_t key = 0; key < keys_.size(); ++key) {
      std::string title(group_key_name(keys_[key]));
      title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
      const std::size_t width = std::max(key_widths_[key], title.size());
      columns_.push_back({title, limited(width + 4, options_.max_name_column_width)});
    }
    add({"Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"});
    if (has_device_time_) {
      add({"Self " + device_, "Self " + device_ + " %", device_ + " total", device_ + " time avg"});
    }
    if (facts_.profile_memory) {
      add({"CPU Mem", "Self CPU Mem"});
      if (shows_device_memory()) add({device_ + " Mem", "Self " + device_ + " Mem"});
    }
    add({"# of Calls"});
    if (has_shapes_) {
      shapes_width_ = limited(longest_shapes_ + 4, options_.max_shapes_column_width);
      columns_.push_back({"Input Shapes", shapes_width_});
    }
    if (has_stack_) {
      source_width_ = limited(longest_frame_ + 4, options_.max_src_column_width);
      columns_.push_back({"Source Location", source_width_, true});
    }
    lay_out_flops();
  }

  /// Leaves out columns that do not fit, and gives the name what is left.
  void fit() {
    const std::size_t widest_name = columns_[0].width;
    const std::size_t least_name = std::min(widest_name, kLeastName);
    std::vector<std::size_t> order(columns_.size() - 1);
    std::iota(order.begin(), order.end(), std::size_t{1});
    std::ranges::stable_sort(order, {}, [&](std::size_t column) {
      return reading_order(columns_[column].title, device_);
    });
    std::size_t used = least_name + kSpacing;
    for (const std::size_t column : order) {
      // As in torch, `CUDA time avg` is one character longer than its column.
      const std::size_t title = columns_[column].title.size();
      const std::size_t wider = used + std::max(columns_[column].width, title) + kSpacing;
      columns_[column].is_shown = hidden_columns_ == 0 && wider <= options_.width;
      if (columns_[column].is_shown) {
        used = wider;
      } else {
        ++hidden_columns_;
      }
    }
    const std::size_t left = options_.width > used ? options_.width - used : 0;
    columns_[0].width = std::min(widest_name, least_name + left);
    // Names end three characters before their limit.
    if (columns_[0].width < widest_name) name_limit_ = static_cast<int>(columns_[0].width);
  }

  void lay_out_flops() {
    constexpr std::string_view kPrefixes = " KMGTP";
    if (!facts_.with_flops || least_flops_ == 0) return;
    has_flops_ = true;
    const double power = std::clamp(std::log10(static_cast<double>(least_flops_)) / 3, 0.0, 5.0);
    flops_scale_ = std::pow(10, std::floor(power) * -3.0);
    const char prefix = kPrefixes[static_cast<std::size_t>(power)];
    columns_.push_back(
        {prefix == ' ' ? "Total FLOPs" : fmt::format("Total {}FLOPs", prefix), kWidth});
  }

  void add(const std::vector<std::string>& titles) {
    for (const std::string& title : titles) columns_.push_back({title, kWidth});
  }

  bool shows_device_memory() const { return facts_.use_device.has_value() && has_device_memory_; }

  std::string shapes_text(const OperatorRow& row) const {
    return row.input_shapes.empty() && facts_.grouped_by_shape ? "[]" : row.input_shapes;
  }

  static std::string key_text(const OperatorRow& row, GroupKey key) {
    return row.values ? report::group_text(*row.values, key) : std::string();
  }

  std::string time(const Duration& duration) const {
    return time_text(duration.us, options_.time_unit);
  }
  std::string mean(const Duration& total, const OperatorRow& row) const {
    return time_text(report::mean_us(total, row), options_.time_unit);
  }

  void print_row(const OperatorRow& row) {
    std::vector<std::string> cells = {
        name_text(row.key, name_limit_ ? name_limit_ : options_.max_name_column_width)};
    if (has_overloads_) {
      cells.push_back(name_text(row.overload_name, options_.max_name_column_width));
    }
    for (const GroupKey key : keys_) {
      cells.push_back(name_text(key_text(row, key), options_.max_name_column_width));
    }
    cells.push_back(share_text(row.self_cpu_time_total.us, self_cpu_us_));
    cells.push_back(time(row.self_cpu_time_total));
    cells.push_back(row.is_async ? "0" : share_text(row.cpu_time_total.us, self_cpu_us_));
    cells.push_back(time(row.cpu_time_total));
    cells.push_back(mean(row.cpu_time_total, row));
    if (has_device_time_) {
      cells.push_back(time(row.self_device_time_total));
      cells.push_back(share_text(row.self_device_time_total.us, self_device_us_));
      cells.push_back(time(row.device_time_total));
      cells.push_back(mean(row.device_time_total, row));
    }
    if (facts_.profile_memory) {
      cells.push_back(memory_text(row.cpu_memory_usage_bytes));
      cells.push_back(memory_text(row.self_cpu_memory_usage_bytes));
      if (shows_device_memory()) {
        cells.push_back(memory_text(row.device_memory_usage_bytes));
        cells.push_back(memory_text(row.self_device_memory_usage_bytes));
      }
    }
    cells.push_back(std::to_string(row.count));
    if (has_shapes_) cells.emplace_back(utf8_prefix(shapes_text(row), shapes_width_));
    // In torch's header the source comes before the FLOPs, but its rows have the FLOPs first.
    if (has_flops_) {
      cells.push_back(row.flops == 0
                          ? "--"
                          : fmt::format("{:8.3f}", static_cast<double>(row.flops) * flops_scale_));
    }
    if (has_stack_) {
      cells.push_back(row.stack.empty() ? "" : path_text(row.stack[0], source_width_));
    }
    print_cells(cells);
    if (!has_stack_) return;
    for (std::size_t frame = 1; frame < row.stack.size(); ++frame) {
      cells.assign(columns_.size() - 1, "");
      cells.push_back(path_text(row.stack[frame], source_width_));
      print_cells(cells);
    }
    print_cells(std::vector<std::string>(columns_.size()));
  }

  void print_cells(const std::vector<std::string>& cells) {
    for (std::size_t number = 0; number < cells.size(); ++number) {
      const TorchColumn& column = columns_[number];
      if (!column.is_shown) continue;
      const std::size_t length = utf8_length(cells[number]);
      const std::size_t blanks = column.width > length ? column.width - length : 0;
      if (!column.left) text_.append(blanks, ' ');
      text_ += cells[number];
      if (column.left) text_.append(blanks, ' ');
      text_.append(kSpacing, ' ');
    }
    text_ += '\n';
  }

  report::RowSource& rows_;
  const OperatorRows& facts_;
  const TableOptions& options_;
  const report::RowOrder& order_;
  io::TextSink& out_;
  std::string& text_ = out_.text();
  std::vector<GroupKey> keys_;           // that have columns
  std::vector<std::size_t> key_widths_;  // likewise
  std::vector<TorchColumn> columns_;
  std::string separator_;
  std::string device_;
  bool has_device_time_ = false;
  bool has_device_memory_ = false;
  bool has_shapes_ = false;
  bool has_overloads_ = false;
  bool has_stack_ = false;
  bool has_flops_ = false;
  std::size_t longest_name_ = 0;
  std::size_t longest_shapes_ = 0;
  std::size_t longest_frame_ = 0;
  std::uint64_t least_flops_ = 0;
  std::size_t shapes_width_ = 0;
  std::size_t source_width_ = 0;
  double flops_scale_ = 1;
  std::size_t hidden_columns_ = 0;
  std::optional<int> name_limit_;  // of a name that is cut to fit
  double self_cpu_us_ = 0;
  double self_device_us_ = 0;
};

}  // namespace

Status check_time_unit(std::string_view unit) {
  if (unit.empty() || unit == "s" || unit == "ms" || unit == "us") return {};
  return {StatusCode::invalid_argument,
          "unknown time unit '" + std::string(unit) + "'; use s, ms or us"};
}

void write_torch_table(report::RowSource& rows, const report::RowOrder& order,
                       const TableOptions& options, io::TextSink& out) {
  if (rows.size() > 0) TorchTable(rows, order, options, out).print();
}

}  // namespace tbtrace::writers
