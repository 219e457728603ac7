// Why GPU activity cannot be recorded, in a sentence with what to do about it. Any thread.
#pragma once

#include <string>
#include <string_view>

#include <tbtrace/status.h>

#include "cupti/cupti_library.h"
#include "cupti/driver_library.h"

namespace tbtrace::cupti {

/// What a failed CUPTI call means for recording.
std::string refusal(const CuptiLibrary& cupti, std::string_view call, ResultCode result);

/// Whether the driver is new enough for CUPTI.
Status check_versions(const CuptiLibrary& cupti, const DriverLibrary& driver);

}  // namespace tbtrace::cupti
