#include "analyses/attribution/source_lines.h"

#include "base/decimal.h"
#include "symbols/names/code_place.h"

namespace tbtrace::analyses {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::optional<SourceLine> line_of_frame(std::string_view frame) {
  const CodePlace place = code_place(frame);
  const bool is_typed_in =
      place.file.starts_with("<ipython-input-") || place.file == "<stdin>";  // in a notebook
  const bool is_file = !place.file.empty() && (is_typed_in || !place.file.starts_with('<'));
  const std::optional<std::int64_t> line = is_file ? parse_integer(place.line) : std::nullopt;
  if (!line) return std::nullopt;
  return SourceLine{place.file, *line, place.function};
}

std::optional<SourceLine> line_of_place(std::string_view place) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const std::string_view number = place.substr(colon + 1);
  const std::optional<std::int64_t> line = is_number(number) ? parse_integer(number) : std::nullopt;
  if (!line) return std::nullopt;
  return SourceLine{place.substr(0, colon), *line, {}};
}

}  // namespace tbtrace::analyses
