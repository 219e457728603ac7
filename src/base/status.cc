#include <ostream>

#include <tbtrace/status.h>

namespace tbtrace {

Status out_of_memory(int threads) {
  return {StatusCode::out_of_memory,
          threads == 1
              ? "needs more memory than there is; raise the memory limit (ulimit -v) or use "
                "a larger machine"
              : "needs more memory than there is; use fewer threads (-j), raise the memory "
                "limit (ulimit -v) or use a larger machine"};
}

std::ostream& operator<<(std::ostream& stream, const Result<std::string>& text) {
  return stream << (text.ok() ? *text : text.status().message() + "\n");
}

}  // namespace tbtrace
