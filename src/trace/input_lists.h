// Parses the lists in operator arguments: shapes, types and concrete values.
// Functions of the texts that a Trace holds.
// A text that is not a valid list gives as much of it as makes sense.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace {

/// The sizes of one argument. `is_list`: it is a list of tensors, whose sizes are omitted, as in
/// torch's shapes.
struct InputDims {
  std::vector<std::int64_t> sizes;
  bool is_list = false;
};

/// `[[32, 28], [], [[1], [2]]]`
std::vector<InputDims> parse_dims(std::string_view json);

/// `["float", "", "Scalar"]`
std::vector<std::string> parse_texts(std::string_view json);

/// `[1, 2]`; false if the text is anything else.
bool parse_integers(std::string_view json, std::vector<std::int64_t>& values);

/// Shapes as Python prints them: `[[32, 28], [], []]`; an argument of type `TensorList` is `[]`.
std::string shapes_text(const std::vector<InputDims>& dims, const std::vector<std::string>& types);

/// The texts that describe an operator's inputs.
struct InputTexts {
  StringId dims = StringId::empty;      ///< JSON, `[[32, 28], []]`
  StringId types = StringId::empty;     ///< JSON, `["float", "Scalar"]`
  StringId concrete = StringId::empty;  ///< JSON, `["", "1"]`

  bool is_given() const { return dims != StringId::empty || types != StringId::empty; }
};
InputTexts inputs_of(const Trace& trace, EventId op);

/// The shapes of an operator as text, empty if it has no inputs.
std::string shapes_of(const Trace& trace, const InputTexts& inputs);

}  // namespace tbtrace
