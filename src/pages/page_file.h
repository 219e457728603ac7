// A page as one HTML file: data, style and script, and a policy that lets nothing else run.
// Texts are escaped here. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/status.h>

namespace tbtrace::pages {

/// A document of the page, which its script finds by its id.
struct PageSection {
  std::string id;  ///< letters, digits, `-` and `_`
  std::string base64;
};

struct PageFile {
  std::string_view title;
  std::string_view index;  ///< JSON without `<`
  std::vector<PageSection> sections;
  std::string_view script;
  std::string_view style;
  /// SHA-256 of both, in hexadecimal digits.
  std::string_view script_hash;
  std::string_view style_hash;
};

std::string page_html(const PageFile& page);

/// How many bytes a page has beside its sections' data.
std::size_t fixed_page_bytes(std::string_view script, std::string_view style, std::size_t sections);

/// A document as it stands in a section: gzip in base64.
Result<std::string> packed_section(std::string_view text);

}  // namespace tbtrace::pages
