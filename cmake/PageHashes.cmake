# tbtrace_page_hashes(HEADER SCRIPT STYLE PREFIX): a header with SHA-256 of a page's script and style, which its policy
# lets run: kPREFIXScriptHash, kPREFIXStyleHash.
function(tbtrace_page_hashes header script style prefix)
  file(SHA256 ${script} script_hash)
  file(SHA256 ${style} style_hash)
  file(CONFIGURE OUTPUT ${header} CONTENT "// SHA-256 of the page's script and style, made by the build.
#pragma once

#include <string_view>

namespace tbtrace::pages {

inline constexpr std::string_view k${prefix}ScriptHash = \"${script_hash}\";
inline constexpr std::string_view k${prefix}StyleHash = \"${style_hash}\";

}  // namespace tbtrace::pages
")
endfunction()
