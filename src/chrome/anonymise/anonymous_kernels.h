// Names of kernels without words that are not public, which still say what the kernels do.
// Pure but for the texts, which keep what they replaced.
#pragma once

#include <string>
#include <string_view>

#include "chrome/anonymise/anonymous_texts.h"

namespace tbtrace::chrome {

/// A name of the same family, which says the same of tensor cores (analyses/kernels/families.h). If
/// the words that say it are replaced, others are added.
std::string anonymous_kernel(std::string_view name, AnonymousTexts& texts);

}  // namespace tbtrace::chrome
