#include <cstdio>
#include <cstdlib>
#include <ostream>

#include <tbtrace/status.h>

namespace tbtrace {

Status out_of_memory(int threads) {
  return {StatusCode::out_of_memory,
          threads == 1
              ? "needs more memory than there is; raise the memory limit or use a larger machine"
              : "needs more memory than there is; use fewer threads, raise the memory limit or "
                "use a larger machine"};
}

namespace internal {

void end_unchecked(const Status& failure) noexcept {
  const char* sentence = failure.message().c_str();
  if (failure.ok()) {
    sentence = "it was given a Status that is not a failure";
  } else if (failure.message().empty()) {
    sentence = "its Status was moved to another Result";
  }
  // There is nothing to do if it cannot be printed.
  static_cast<void>(std::fprintf(
      stderr, "tbtrace: the value of a failed Result was used: %s. Check ok() first.\n", sentence));
  std::abort();
}

std::ostream& write(std::ostream& stream, const std::string& text) { return stream << text; }

std::ostream& write(std::ostream& stream, const Status& failure) {
  return stream << "tbtrace: " << failure.message() << '\n';
}

}  // namespace internal
}  // namespace tbtrace
