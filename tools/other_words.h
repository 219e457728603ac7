// What other tools, and earlier versions, call our verbs and options.
#pragma once

#include <string_view>

namespace tbtrace::tools {

/// The verb, with its option if it needs one; empty if the word is not known.
std::string_view verb_for_word(std::string_view word);

/// The option, without dashes.
std::string_view option_for_word(std::string_view word);

}  // namespace tbtrace::tools
