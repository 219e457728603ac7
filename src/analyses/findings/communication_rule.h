// What to do about communication that nothing hides.
#pragma once

#include <string_view>

namespace tbtrace::analyses {

/// The end of a remedy that was made from one trace, whose job may tell more.
inline constexpr std::string_view kWaitingIsUnknown =
    "; how much of it is waiting, the traces of all ranks tell (tbtrace summary FOLDER)";

}  // namespace tbtrace::analyses
