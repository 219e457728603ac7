// The one place that knows which library makes gzip members.
// Owns the library's state; spans belong to the caller. One thread at a time.
// Any bytes can be compressed; only a lack of memory fails, as std::bad_alloc.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace tbtrace::io {

/// The library's name, as `Capabilities` says it; the inflater is of the same one.
std::string_view gzip_library();

class Deflater {
 public:
  struct Step {
    std::size_t consumed;
    std::size_t produced;
    bool finished;  ///< the member is complete
  };

  /// Begins a gzip member that says neither a name nor a time.
  Deflater();
  ~Deflater();

  /// Compresses as much as fits; neither span may be longer than 4 GiB. With `last` nothing follows
  /// `input`; call it again, with what is left of that, until the member is finished.
  Step deflate(std::span<const char> input, std::span<char> output, bool last);

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace tbtrace::io
