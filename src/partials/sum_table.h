// A table whose rows add up: those with the same key become one, whatever the order.
// Owns its rows; the texts of their keys are numbers in a pool beside it. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bounded_sum.h"
#include "base/string_pool.h"
#include "report/duration_sketch.h"

namespace tbtrace::partials {

/// How the figures of two rows become one.
enum class Fold : std::uint8_t { sum, least, most };

struct FigureShape {
  std::string_view name;
  Fold fold = Fold::sum;
};

struct TableShape {
  std::string_view name;
  std::span<const std::string_view> keys;  ///< what the parts of a key are; at least one
  std::span<const FigureShape> figures;
  bool has_durations = false;
};

/// A whole number, or none: a figure that is not known. What is added to an unknown one remains.
class Figure {
 public:
  Figure() = default;
  Figure(WideInteger value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  template <typename Number>
  Figure(std::optional<Number> value)  // NOLINT(google-explicit-constructor)
      : value_(value ? WideInteger{*value} : kNone) {}

  bool is_known() const { return value_ != kNone; }
  /// 0 if it is not known.
  WideInteger value() const { return is_known() ? value_ : 0; }
  /// The nearest number of 64 bits.
  std::int64_t whole() const { return bounded(value()); }
  std::uint64_t count() const;

  void fold_in(Fold fold, Figure other);
  bool operator==(const Figure&) const = default;

 private:
  static constexpr WideInteger kNone = WideInteger{1} << 127;  // the lowest number

  WideInteger value_ = kNone;
};

class SumTable {
 public:
  explicit SumTable(const TableShape& shape) : shape_(&shape) {}

  const TableShape& shape() const { return *shape_; }
  std::size_t size() const { return rows_; }
  std::span<const std::uint32_t> key(std::size_t row) const {
    return std::span(keys_).subspan(row * shape_->keys.size(), shape_->keys.size());
  }
  std::span<const Figure> figures(std::size_t row) const {
    return std::span(figures_).subspan(row * shape_->figures.size(), shape_->figures.size());
  }
  /// Empty if the shape has none.
  const report::DurationSketch& durations(std::size_t row) const;

  /// Adds to the row of the key. `key` and `figures`: as many as in the shape.
  void add(std::span<const std::uint32_t> key, std::span<const Figure> figures,
           const report::DurationSketch& durations = {});

  /// Adds all rows of a table of the same shape. `text_of`: by text there, its number here.
  void add(const SumTable& other, std::span<const std::uint32_t> text_of);

 private:
  const TableShape* shape_;
  std::size_t rows_ = 0;
  StringPool row_of_key_;  // numbers its keys from 1
  std::vector<std::uint32_t> keys_;
  std::vector<Figure> figures_;
  std::vector<report::DurationSketch> durations_;
};

}  // namespace tbtrace::partials
