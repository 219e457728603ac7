// Names that a format could take for its own punctuation, or a reader for something else.
#pragma once

#include <array>
#include <string_view>

namespace tbtrace::writers {

inline constexpr std::string_view kBell = "a\x07\x1b[31m\x7f";
inline constexpr std::string_view kNewlines = "first\nsecond\r\nthird\tend";
inline constexpr std::string_view kQuotes = "say \"a\", 'b' and \\n";
inline constexpr std::string_view kSemicolons = "a;b\\;c 12";
inline constexpr std::string_view kBackticks = "``a` b```";
inline constexpr std::string_view kPipes = "|a||b\\|c|";
inline constexpr std::string_view kScript = "</script><script>alert(1)</script> &amp;";
inline constexpr std::string_view kNotUtf8 = "a\xff\xc3(\xe2\x82 z";
inline constexpr std::string_view kRightToLeft = "\u202e\u2066gpj.exe\u2069";
inline constexpr std::string_view kFormula = "=cmd|' /C calc'!A1";

inline constexpr std::string_view kMarkupEnds = "]]></metadata></svg>&quot;],\"totals\":[1";

inline constexpr std::array kHostileNames = {
    kBell,   kNewlines, kQuotes,      kSemicolons, kBackticks,  kPipes,
    kScript, kNotUtf8,  kRightToLeft, kFormula,    kMarkupEnds,
};

}  // namespace tbtrace::writers
