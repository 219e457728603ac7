#include "bare_walk.h"

#include <iostream>
#include <string_view>
#include <utility>
#include <vector>

#include <zlib.h>

namespace tbtrace::benchmarks {
namespace {

namespace json = simdjson::ondemand;
using Seen = BareWalk::Seen;

// simdjson's results throw where they hold an error; run() catches that.
void walk(json::value value, Seen& seen) {
  switch (value.type().value()) {
    case json::json_type::object:
      for (auto field : value.get_object()) {
        seen.bytes += static_cast<unsigned char>(field.key().value().raw()[0]);
        walk(field.value(), seen);
      }
      break;
    case json::json_type::array:
      for (auto element : value.get_array()) walk(element.value(), seen);
      break;
    default:
      seen.bytes += value.raw_json_token().size();
  }
}

void walk_events(json::value value, Seen& seen) {
  for (auto element : value.get_array()) {
    ++seen.events;
    walk(element.value(), seen);
  }
}

void walk_document(json::document& document, Seen& seen) {
  if (document.type().value() == json::json_type::array) {
    walk_events(document.get_value(), seen);
    return;
  }
  for (auto field : document.get_object()) {
    const std::string_view key = field.unescaped_key();
    if (key == "traceEvents") {
      walk_events(field.value(), seen);
    } else {
      walk(field.value(), seen);
    }
  }
}

}  // namespace

BareWalk::Seen BareWalk::run(const simdjson::padded_string& text) {
  Seen seen;
  try {
    json::document document = parser_.iterate(text);
    walk_document(document, seen);
  } catch (const simdjson::simdjson_error&) {
    seen.sound = false;
  }
  return seen;
}

std::unique_ptr<simdjson::padded_string> read_text(const std::string& path) {
  constexpr unsigned kPiece = 16 << 20;
  // Reads plain files as they are.
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    std::cerr << "cannot open " << path << "\n";
    return nullptr;
  }
  gzbuffer(file, 1 << 20);
  std::string text;
  int size = 0;
  std::vector<char> piece(kPiece);
  while ((size = gzread(file, piece.data(), kPiece)) > 0) {
    text.append(piece.data(), static_cast<std::size_t>(size));
  }
  gzclose(file);
  if (size < 0) {
    std::cerr << path << " is damaged\n";
    return nullptr;
  }
  return std::make_unique<simdjson::padded_string>(text);
}

}  // namespace tbtrace::benchmarks
