#include "wire/json_emitter.h"

#include <cmath>

#include <fmt/format.h>

#include "wire/json_text.h"

namespace tbtrace::wire {

void JsonEmitter::next() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!first_.back()) json_ += break_line_ ? "," : ", ";
  if (break_line_) json_ += '\n';
  break_line_ = false;
  first_.back() = false;
}

void JsonEmitter::open(char bracket) {
  next();
  json_ += bracket;
  first_.push_back(true);
}

void JsonEmitter::close(char bracket) {
  first_.pop_back();
  if (break_line_) json_ += '\n';
  break_line_ = false;
  json_ += bracket;
}

void JsonEmitter::key(std::string_view name) {
  next();
  append_html_json_string(json_, name);
  json_ += ": ";
  after_key_ = true;
}

void JsonEmitter::text(std::string_view value) {
  next();
  append_html_json_string(json_, value);
}

void JsonEmitter::boolean(bool value) { raw(value ? "true" : "false"); }

void JsonEmitter::null() { raw("null"); }

void JsonEmitter::number(double value) {
  next();
  json_ += std::isfinite(value) ? fmt::format("{}", value) : "null";
}

void JsonEmitter::raw(std::string_view value) {
  next();
  json_ += value;
}

void JsonEmitter::new_line() { break_line_ = true; }

}  // namespace tbtrace::wire
