// Writes JSON part by part, with the commas in the right places.
// Appends to a string that must outlive it. Not synchronised.
// Texts are escaped by append_json_string(); doubles that are not finite become null.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tbtrace::wire {

class JsonEmitter {
 public:
  explicit JsonEmitter(std::string& json) : json_(json) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name);

  void text(std::string_view value);
  /// A key with a text.
  void member(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }
  void boolean(bool value);
  void null();
  void number(double value);
  template <std::integral T>
  void integer(T value) {
    next();
    json_ += std::to_string(value);
  }
  /// Text that is already JSON.
  void raw(std::string_view value);

  /// Starts the next value on a new line.
  void new_line();

 private:
  void next();
  void open(char bracket);
  void close(char bracket);

  std::string& json_;
  std::vector<bool> first_ = {true};  // nothing has been written at this level yet
  bool after_key_ = false;
  bool break_line_ = false;
};

}  // namespace tbtrace::wire
