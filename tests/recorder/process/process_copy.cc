// A shared library with a copy of the recorder in it, as a program has it that links tbtrace into
// one of its plugins.
#include <string_view>

#include "recorder/log/active.h"
#include "recorder/process/process.h"

/// Uses the recorder; 0 if it says nothing, 1 if another copy is in use, 2 if it says anything
/// else.
extern "C" __attribute__((visibility("default"))) int tbtrace_copy_says() {
  using namespace tbtrace::recorder;
  const auto slot = activate(std::make_shared<Recording>(RecordingOptions{}));
  if (slot) deactivate(*slot);
  const std::string_view reason = why_nothing_is_recorded();
  if (reason.empty()) return 0;
  return reason.find("another one in this process") != std::string_view::npos ? 1 : 2;
}
