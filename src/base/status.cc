#include <ostream>

#include <tbtrace/status.h>

namespace tbtrace {

std::ostream& operator<<(std::ostream& stream, const Result<std::string>& text) {
  return stream << (text.ok() ? *text : text.status().message() + "\n");
}

}  // namespace tbtrace
