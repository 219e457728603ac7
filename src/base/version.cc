#include <tbtrace/version.h>

namespace tbtrace {

std::string_view version() { return TBTRACE_VERSION; }

}  // namespace tbtrace
