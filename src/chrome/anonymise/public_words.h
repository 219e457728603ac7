// The words and classes that are known to be public: of torch, and of vendors' libraries.
// Pure functions. To add one, add it to public_words.txt or public_classes.txt.
#pragma once

#include <span>
#include <string_view>

namespace tbtrace::chrome {

/// Letters only, in any case: `gemm`, `Kernel`. A single letter says nothing.
bool is_public_word(std::string_view word);

/// A class of torch.nn or torch.optim: `Conv2d`.
bool is_public_class(std::string_view name);

/// The tables, sorted; for tests.
std::span<const std::string_view> public_words();
std::span<const std::string_view> public_classes();

}  // namespace tbtrace::chrome
