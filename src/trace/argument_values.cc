#include "trace/argument_values.h"

#include <algorithm>

namespace tbtrace {

void ArgumentValues::copy(std::size_t row, const ArgumentColumn& from, std::size_t from_row) {
  if (!from.has(from_row)) return;
  const std::size_t at = from.place(from_row);
  if (!from.text_.empty()) {
    set(row, from.text_[at]);
  } else if (!from.real_.empty()) {
    set(row, from.real_[at]);
  } else if (!from.dim3_.empty()) {
    set(row, from.dim3_[at]);
  } else {
    set(row, *from.integer(from_row));
  }
}

void ArgumentValues::expect(double times, std::size_t most_rows) {
  const auto room = [&](const auto& column) {
    return std::min(static_cast<std::size_t>(static_cast<double>(column.size()) * times),
                    most_rows);
  };
  present_.reserve(room(present_));
  before_.reserve(room(before_));
  narrow_.reserve(room(narrow_));
  wide_.reserve(room(wide_));
  real_.reserve(room(real_));
  text_.reserve(room(text_));
  dim3_.reserve(room(dim3_));
}

ArgumentColumn ArgumentValues::view() const {
  ArgumentColumn column;
  column.size_ = size_;
  column.present_ = present_.view();
  column.before_ = before_.view();
  column.narrow_ = narrow_.view();
  column.wide_ = wide_.view();
  column.real_ = real_.view();
  column.text_ = text_.view();
  column.dim3_ = dim3_.view();
  return column;
}

void ArgumentValues::widen() {
  wide_.reserve(narrow_.size() + 1);
  for (const std::int32_t value : narrow_) wide_.push_back(value);
  narrow_.release();
}

}  // namespace tbtrace
