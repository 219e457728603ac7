// What is declared by Emscripten's C library and defined nowhere.
#include <cstddef>

#include <link.h>

/// The module is one object, which no loader loaded: there is nothing to call back for.
extern "C" int dl_iterate_phdr(int (*)(dl_phdr_info*, std::size_t, void*), void*) { return 0; }
