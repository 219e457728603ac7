// trace/input_lists.h: lists of any content end, and what was read of them makes sense.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/require.h"
#include "trace/input_lists.h"

namespace {

using namespace tbtrace;

std::string without_blanks(std::string_view text) {
  std::string solid;
  for (const char c : text) {
    if (c != ' ' && c != '\n' && c != '\t') solid += c;
  }
  return solid;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  std::vector<std::int64_t> values;
  if (parse_integers(text, values)) {
    fuzz::require(text.size() >= 2 * values.size(), "each integer has its text");
    fuzz::require(text.front() == '[' || without_blanks(text).front() == '[', "a list is a list");
  }

  const std::vector<InputDims> dims = parse_dims(text);
  std::size_t sizes = 0;
  for (const InputDims& input : dims) {
    fuzz::require(!input.is_list || input.sizes.empty(), "lists of tensors have no sizes");
    sizes += input.sizes.size();
  }
  fuzz::require(sizes + 2 * dims.size() <= size, "each size has its text");
  const std::vector<std::string> types = parse_texts(text);
  std::size_t characters = 0;
  for (const std::string& type : types) {
    fuzz::require(text.find("\"" + type + "\"") != std::string_view::npos, "texts are as written");
    characters += type.size() + 2;
  }
  fuzz::require(characters <= size, "texts do not overlap");

  const std::vector<InputDims> again = parse_dims(shapes_text(dims, {}));
  fuzz::require(again.size() == dims.size(), "shapes can be read again");
  for (std::size_t input = 0; input < dims.size(); ++input) {
    fuzz::require(again[input].sizes == dims[input].sizes, "shapes keep their sizes");
  }
  return 0;
}
