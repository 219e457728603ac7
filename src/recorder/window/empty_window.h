// Whether anything but the marks of steps is in a recording, as a user would ask who sees an empty
// table.
#pragma once

#include "recorder/log/recording.h"

namespace tbtrace::recorder {

/// Of a closed recording. False if devices were recorded, too. Costs nothing where there is more
/// than a few records.
bool has_only_steps(const Recording& recording);

}  // namespace tbtrace::recorder
