// Marks the symbols that libtbtrace.so exports: every namespace in a public header carries it.
// In a static library the symbols stay hidden, so that two shared libraries that each contain
// tbtrace do not mix. CMake and pkg-config define TBTRACE_SHARED_LIBRARY for programs that link
// libtbtrace.so.
// All public headers include this one, so it is what an older language stops at.
#pragma once

#if defined(__cplusplus) && __cplusplus < 202002L
#error "tbtrace needs C++20: compile with -std=c++20, or in CMake set CMAKE_CXX_STANDARD to 20"
// Stops the compiler, which would explain at length what it does not understand of the rest.
#include <tbtrace_needs_a_newer_language>
#endif

#if defined(TBTRACE_SHARED_LIBRARY)
#define TBTRACE_EXPORT [[gnu::visibility("default")]]
#else
#define TBTRACE_EXPORT
#endif
