// Function, file and line of a code address in this process, from the symbols and debug information
// of the program and its libraries.
// Reads files on the first call, which is slow; safe from any thread. What is unknown is empty, for
// instance the lines of libraries loaded after the first call.
// Two implementations: with libbacktrace; or, if that is not installed, with the dynamic linker's
// own table, which has exported functions only and no lines.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tbtrace::symbols {

struct CodePlace {
  std::string function;    ///< as C++ writes it, with its parameters: `Net::forward(at::Tensor)`
  std::string file;        ///< path at compile time
  int line = 0;            ///< 0: unknown
  std::string object;      ///< the program or library
  std::size_t offset = 0;  ///< offset of the address in the object
};

/// Places of the call that returns to the address; several if functions were inlined, innermost
/// first.
std::vector<CodePlace> code_places(const void* return_address);

/// Whether line numbers are available, from debug information.
bool knows_lines();

}  // namespace tbtrace::symbols
