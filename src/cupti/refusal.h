// Why a GPU's work cannot be recorded, in a sentence with what to do about it.
// Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>

#include <tbtrace/status.h>

#include "cupti/cupti_library.h"
#include "cupti/driver_library.h"

namespace tbtrace::cupti {

/// What an answer of CUPTI to a call means for who wants to record.
std::string refusal(const CuptiLibrary& cupti, std::string_view call, Answer answer);

/// Whether the driver is new enough for CUPTI.
Status check_versions(const CuptiLibrary& cupti, const DriverLibrary& driver);

}  // namespace tbtrace::cupti
