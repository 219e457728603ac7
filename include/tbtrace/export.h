// Marks the symbols that libtbtrace.so exports: every namespace in a public header carries it.
// In a static library the symbols stay hidden, so that two shared libraries that each contain
// tbtrace do not mix. CMake and pkg-config define TBTRACE_SHARED_LIBRARY for programs that link
// libtbtrace.so.
#pragma once

#if defined(TBTRACE_SHARED_LIBRARY)
#define TBTRACE_EXPORT [[gnu::visibility("default")]]
#else
#define TBTRACE_EXPORT
#endif
