# What tbtrace is built with: looks for it, and ends with a sentence where something is missing or too
# old. A version is the oldest that is known to work, Debian 12's, unless the reason names a function.

# tbtrace_depends_on(NAME FOUND VERSION OLDEST REASON DEBIAN-PACKAGE)
function(tbtrace_depends_on name found version oldest reason package)
  set(remedy "On Debian `apt-get install ${package}`; a copy in a folder of its own is found with -DCMAKE_PREFIX_PATH=FOLDER.")
  if(NOT found)
    message(FATAL_ERROR "tbtrace needs ${name} ${oldest} or newer, which was not found. ${remedy}")
  elseif(version VERSION_LESS oldest)
    message(FATAL_ERROR "tbtrace needs ${name} ${oldest} or newer (${reason}), but ${version} was found. ${remedy}")
  endif()
endfunction()

# C++20 as these have it.
foreach(compiler "GNU 12" "Clang 14")
  separate_arguments(compiler)
  list(GET compiler 0 id)
  list(GET compiler 1 oldest)
  if(CMAKE_CXX_COMPILER_ID STREQUAL id AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS oldest)
    message(FATAL_ERROR "tbtrace needs C++20, which is known to work from g++ 12 and clang++ 14 on, but "
      "${CMAKE_CXX_COMPILER} is ${id} ${CMAKE_CXX_COMPILER_VERSION}: choose another with -DCMAKE_CXX_COMPILER=COMPILER.")
  endif()
endforeach()

if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(FATAL_ERROR "tbtrace works on Linux, not on ${CMAKE_SYSTEM_NAME}: files appear by renameat2(), and "
    "recordings read /proc and name threads as Linux does.")
endif()
include(CheckCXXSymbolExists)
foreach(symbol "renameat2 cstdio" "pthread_getname_np pthread.h" "dl_iterate_phdr link.h")
  separate_arguments(symbol)
  list(GET symbol 0 function)
  list(GET symbol 1 header)
  check_cxx_symbol_exists(${function} ${header} TBTRACE_HAS_${function})
  if(NOT TBTRACE_HAS_${function})
    message(FATAL_ERROR "tbtrace needs ${function}(), which this C library does not have; glibc has it from 2.28 on.")
  endif()
endforeach()

# Versions of simdjson's package are compatible only within a minor one, so this asks for none. Its
# structural index, which wire/json_index.cc walks, is not public: it is the same in 3.0 to 4.6.
find_package(simdjson CONFIG QUIET)
tbtrace_depends_on(simdjson "${simdjson_FOUND}" "${simdjson_VERSION}" 3.0 "older ones have another structural index" libsimdjson-dev)
if(simdjson_VERSION VERSION_GREATER_EQUAL 5)
  message(FATAL_ERROR "tbtrace uses a part of simdjson that is not public and is known in versions 3.0 to 4.x, but "
    "${simdjson_VERSION} was found: set simdjson_DIR to an older one.")
endif()

find_package(fmt CONFIG QUIET)
tbtrace_depends_on({fmt} "${fmt_FOUND}" "${fmt_VERSION}" 9.1 "older ones were not tried" libfmt-dev)

find_package(ZLIB QUIET)
tbtrace_depends_on(zlib "${ZLIB_FOUND}" "${ZLIB_VERSION_STRING}" 1.2.1 "for gzip in inflateInit2()" zlib1g-dev)

find_package(Threads REQUIRED)
find_package(Libbacktrace QUIET)

# What is optional: a build without it leaves out what needs it, and `tbtrace doctor` says so.
if(TBTRACE_ISAL)
  find_package(Isal 2.30 QUIET)
endif()
if(TBTRACE_PNG)
  find_package(PNG 1.6.22 QUIET)  # for png_image_write_to_memory()
endif()
if(TBTRACE_CAIRO)  # its headers
  find_package(Cairo 1.16 QUIET)
endif()
if(TBTRACE_PROTOBUF)
  # From 22 on protobuf needs abseil, which only its own CMake package links; Debian's has none.
  find_package(Protobuf CONFIG QUIET)
  if(NOT Protobuf_FOUND)
    find_package(Protobuf 3.21 QUIET)
  endif()
endif()
# Variables rather than targets: a project of which this is a part may have found more.
foreach(package Isal PNG Cairo Protobuf)
  string(TOUPPER ${package} option)
  set(TBTRACE_WITH_${option} ${TBTRACE_${option}})
  if(NOT ${package}_FOUND)
    set(TBTRACE_WITH_${option} OFF)
  endif()
endforeach()
if(TBTRACE_WITH_PROTOBUF AND NOT TARGET protobuf::protoc)
  set(TBTRACE_WITH_PROTOBUF OFF)  # without protobuf-compiler
endif()
foreach(part "ISAL;ISA-L: gzip is slower" "PNG;libpng: SummaryWriter takes no pixels"
             "CAIRO;cairo's headers: no flame graphs as PNG" "PROTOBUF;protobuf: no event files for TensorBoard")
  list(GET part 0 option)
  list(GET part 1 loss)
  if(NOT TBTRACE_WITH_${option})
    message(STATUS "tbtrace without ${loss} (docs/building.md, TBTRACE_${option})")
  endif()
endforeach()

if(PROJECT_IS_TOP_LEVEL)
  find_package(cxxopts CONFIG QUIET)
  tbtrace_depends_on(cxxopts "${cxxopts_FOUND}" "${cxxopts_VERSION}" 3.1 "for cxxopts::exceptions" libcxxopts-dev)
  find_package(RE2 QUIET)  # it has no version to ask for
  if(NOT RE2_FOUND)
    message(FATAL_ERROR "tbtrace's command line needs RE2, which was not found. On Debian `apt-get install libre2-dev`; "
      "a copy in a folder of its own is found with -DCMAKE_PREFIX_PATH=FOLDER.")
  endif()
endif()
