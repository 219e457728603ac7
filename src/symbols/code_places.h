// What the code at an address of this process is: function, file and line, from the symbols and the
// debug information of the program and its libraries.
// Reads files at the first call and is slow then; safe from any thread. What is not known is empty:
// lines of libraries that were loaded after the first call, for instance.
// Two implementations: with libbacktrace, and with the dynamic linker's own table where that is not
// installed, which knows no lines and only exported functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tbtrace::symbols {

struct CodePlace {
  std::string function;    ///< as C++ writes it, with its parameters: `Net::forward(at::Tensor)`
  std::string file;        ///< as it was compiled
  int line = 0;            ///< 0: not known
  std::string object;      ///< the program or library
  std::size_t offset = 0;  ///< of the address, in the object
};

/// Of the call that returns to the address; several where functions were inlined, innermost first.
std::vector<CodePlace> code_places(const void* return_address);

/// Whether lines can be known, which debug information holds.
bool knows_lines();

}  // namespace tbtrace::symbols
