// Large numbers for people. Does not depend on the locale.
#pragma once

#include <string>

namespace tbtrace::writers {

/// Three digits, a blank and a decimal prefix, ready for a unit: `4.09 G`, `312 T`, `0.5 `. Must
/// not be negative.
std::string prefixed_number(double value);

}  // namespace tbtrace::writers
