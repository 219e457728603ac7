// Inflates gzip members. Only this class and Deflater know which library is used.
// Owns the library's state; spans belong to the caller. One thread at a time.
// Damage is a state, not an exception; a wrong checksum counts as damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace tbtrace::io {

class Inflater {
 public:
  enum class State : std::uint8_t { more, end_of_member, damaged };
  struct Step {
    std::size_t consumed;
    std::size_t produced;
    State state;
  };

  Inflater();
  ~Inflater();

  /// Prepares for the header of a gzip member.
  void reset();

  /// Inflates as much as fits; neither span may be longer than 4 GiB.
  Step inflate(std::span<const char> input, std::span<char> output);

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace tbtrace::io
