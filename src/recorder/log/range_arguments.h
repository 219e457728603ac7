// What a program says of its ranges and instants, as bytes: written by the recorded thread, turned
// into JSON later.
// A writer owns its bytes. One thread per object. No memory: std::bad_alloc.
//
// An argument is its key and its value; texts have their length before them, and numbers are
// eight bytes after a tag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tbtrace::recorder {

class RangeArgumentsWriter {
 public:
  void add(std::string_view key, bool value);
  void add(std::string_view key, std::int64_t value);
  void add(std::string_view key, std::uint64_t value);
  void add(std::string_view key, double value);
  void add(std::string_view key, std::string_view value);

  /// Of any length, also of more than a record can hold.
  std::string_view bytes() const { return bytes_; }

 private:
  enum class Tag : char;
  friend std::string range_arguments_json(std::string_view bytes);

  void add(std::string_view key, Tag tag, std::uint64_t bits);
  void text(std::string_view value);

  std::string bytes_;
};

/// The arguments as a JSON object in its canonical form; of a key that comes again, the last value.
/// A number that JSON has not is its name as a text: `"NaN"`, `"Infinity"`, `"-Infinity"`. Empty if
/// the bytes are not what a writer wrote.
std::string range_arguments_json(std::string_view bytes);

/// A number as JSON, in its canonical form, or such a text.
std::string number_json(double value);

}  // namespace tbtrace::recorder
