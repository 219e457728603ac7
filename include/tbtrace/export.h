// What libtbtrace.so offers: every namespace of a public header is marked. A static library offers
// nothing to other libraries that it is linked into, so that two of them may have one each.
// CMake and pkg-config define TBTRACE_SHARED_LIBRARY for programs that link libtbtrace.so.
#pragma once

#if defined(TBTRACE_SHARED_LIBRARY)
#define TBTRACE_EXPORT [[gnu::visibility("default")]]
#else
#define TBTRACE_EXPORT
#endif
