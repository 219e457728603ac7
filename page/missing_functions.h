// What the C and C++ libraries of Emscripten do not have yet, each as POSIX, Linux or C++20
// describe it. Included before each source of the module, so that these need no case of their own
// for it.
#pragma once

#if defined(__cplusplus) && __cplusplus >= 202002L  // CMake tries older ones

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>

namespace std {  // NOLINT(cert-dcl58-cpp): libc++ has it from version 20 on

/// As strtod() in the "C" locale, without blanks, a plus or hexadecimal digits. Values that are too
/// large or small for a double are out of range.
inline from_chars_result from_chars(const char* begin, const char* end, double& value) {
  const string text(begin, end);
  const size_t sign = text.starts_with('-') ? 1 : 0;
  const string_view rest = string_view(text).substr(sign);
  const bool is_hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
  if (rest.empty() || string_view(" \t\n\v\f\r+-").find(rest.front()) != string_view::npos)
    return {begin, errc::invalid_argument};
  char* after = nullptr;
  const double number = is_hexadecimal ? 0.0 : strtod(text.c_str(), &after);
  const size_t read = is_hexadecimal ? sign + 1 : static_cast<size_t>(after - text.c_str());
  if (read == 0) return {begin, errc::invalid_argument};
  const bool is_named = rest.find_first_of("nN") < read;  // inf and nan
  const bool is_zero = text.find_first_of("123456789") > min(read, text.find_first_of("eE"));
  if (!is_named && (isinf(number) || (number == 0 && !is_zero)))
    return {begin + read, errc::result_out_of_range};
  value = is_hexadecimal && sign == 1 ? -0.0 : number;
  return {begin + read, errc()};
}

}  // namespace std

constexpr unsigned RENAME_NOREPLACE = 1;

/// One thread and one program: none comes between.
inline int renameat2(int, const char* from, int, const char* to, unsigned) {
  struct stat info = {};
  if (::stat(to, &info) == 0) {
    errno = EEXIST;
    return -1;
  }
  return std::rename(from, to);
}
inline int sync_file_range(int, off_t, off_t, unsigned) { return 0; }

#endif
