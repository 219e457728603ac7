// The inputs of an operator by position: sizes, types and values, as the recording has them.
// Owns its values. Any text is accepted: what is not a valid list of inputs counts as unknown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbtrace::analyses {

/// The sizes of a tensor; none is negative.
using Sizes = std::vector<std::uint64_t>;

class OperatorInputs {
 public:
  /// The JSON of `Input Dims`, `Input type` and `Concrete Inputs`; empty: not recorded.
  OperatorInputs(std::string_view dims, std::string_view types, std::string_view values);

  /// How many inputs have a known shape.
  std::size_t size() const { return shapes_.size(); }

  /// The sizes of a tensor; nullptr if the input is not a tensor or its sizes are unknown. A
  /// position below 0 has nothing.
  const Sizes* tensor(int position) const;
  /// The tensors of a list of tensors; nullptr if their sizes are unknown.
  const std::vector<Sizes>* tensors(int position) const;

  std::optional<std::vector<std::int64_t>> integers(int position) const;
  std::optional<std::int64_t> integer(int position) const;
  std::optional<bool> flag(int position) const;
  /// `[True, False, True]`; position -1 is the last input.
  std::optional<std::vector<bool>> flags(int position) const;

  /// `float`, `c10::Half`; empty if unknown.
  std::string_view type(int position) const;
  /// Bytes of an element of a tensor; 0 if the type is unknown.
  std::uint64_t element_bytes(int position) const;

 private:
  struct Shape {
    Sizes sizes;
    std::vector<Sizes> tensors;
    bool is_list = false;
    bool is_valid = true;
  };

  static std::vector<Shape> parse_shapes(std::string_view json);
  const Shape* shape(int position) const;
  std::string_view value(int position) const;

  std::vector<Shape> shapes_;
  std::vector<std::string> types_;
  std::vector<std::string> values_;
};

/// The number of elements; saturates.
std::uint64_t elements(const Sizes& sizes);

/// Bytes of an element of this type, by torch's names of types; 0 if unknown.
std::uint64_t bytes_of_type(std::string_view type);

}  // namespace tbtrace::analyses
