// What an input answers when it cannot be read.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <tbtrace/status.h>

namespace tbtrace::io {

inline Status read_failure(std::string what) {
  return {StatusCode::unreadable_input, std::move(what)};
}

/// With the reason that errno holds.
inline Status system_read_failure(const char* what, const char* remedy) {
  return read_failure(std::string(what) + ": " + std::strerror(errno) + "; " + remedy);
}

}  // namespace tbtrace::io
