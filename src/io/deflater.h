// Compresses gzip members. Only this class and Inflater know which library is used.
// Owns the library's state; spans belong to the caller. One thread at a time.
// Any bytes can be compressed; the only failure is running out of memory, as std::bad_alloc.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace tbtrace::io {

/// The library's name, as in `Capabilities`; the inflater uses the same library.
std::string_view gzip_library();

class Deflater {
 public:
  struct Step {
    std::size_t consumed;
    std::size_t produced;
    bool finished;  ///< the member is complete
  };

  /// Begins a gzip member without a name or a time.
  Deflater();
  ~Deflater();

  /// Compresses as much as fits; neither span may be longer than 4 GiB. `last`: nothing follows
  /// `input`; call again with the rest of it until the member is finished.
  Step deflate(std::span<const char> input, std::span<char> output, bool last);

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace tbtrace::io
