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
# tbtrace_may_use(OPTION FOUND VERSION OLDEST NAME DEBIAN-PACKAGES LOSS [PROBLEM]) is for what is optional, and sets
# TBTRACE_WITH_OPTION. OPTION's value is AUTO, which says what a build without it leaves out, ON, which ends with a
# sentence where it is missing or too old, or OFF. PROBLEM: why the one that was found cannot be used.
function(tbtrace_may_use option found version oldest name packages loss)
  set(problem "${ARGN}")
  if(NOT found AND NOT problem)
    set(problem "${name} ${oldest} or newer was not found")
  elseif(found AND NOT version)
    set(problem "${name} of an unknown version was found, and tbtrace needs ${oldest} or newer")
  elseif(found AND version VERSION_LESS oldest)
    set(problem "${name} ${version} was found, and tbtrace needs ${oldest} or newer")
  endif()
  set(with ON)
  if(NOT TBTRACE_${option})
    set(with OFF)
    set(problem "TBTRACE_${option} is OFF")
  elseif(problem)
    set(with OFF)
    if(NOT TBTRACE_${option} STREQUAL "AUTO")
      message(FATAL_ERROR "tbtrace is to be built with ${name}, but ${problem}. On Debian `apt-get install ${packages}`; "
        "a copy in a folder of its own is found with -DCMAKE_PREFIX_PATH=FOLDER; -DTBTRACE_${option}=OFF builds without.")
    endif()
  endif()
  if(NOT with)
    message(STATUS "tbtrace without ${name}: ${loss} (${problem}; docs/building.md)")
  endif()
  set(TBTRACE_WITH_${option} ${with} PARENT_SCOPE)
endfunction()

if(TBTRACE_ISAL)
  find_package(Isal QUIET)
endif()
tbtrace_may_use(ISAL "${Isal_FOUND}" "${Isal_VERSION}" 2.30 ISA-L libisal-dev "gzip is slower")
if(TBTRACE_PNG)
  find_package(PNG QUIET)
endif()
tbtrace_may_use(PNG "${PNG_FOUND}" "${PNG_VERSION_STRING}" 1.6.22 libpng libpng-dev  # has png_image_write_to_memory()
  "SummaryWriter takes no pixels")
if(TBTRACE_CAIRO)  # its headers
  find_package(Cairo QUIET)
endif()
tbtrace_may_use(CAIRO "${Cairo_FOUND}" "${Cairo_VERSION}" 1.16 cairo libcairo2-dev "no flame graphs as PNG")
set(problem "")
if(TBTRACE_PROTOBUF)
  find_package(Protobuf CONFIG QUIET)
  if(NOT Protobuf_FOUND)
    find_package(Protobuf QUIET)
    if(Protobuf_VERSION VERSION_GREATER_EQUAL 4.22)
      set(problem "protobuf ${Protobuf_VERSION} was found without its own CMake package, which links abseil")
    endif()
  endif()
  if(Protobuf_FOUND AND NOT TARGET protobuf::protoc)
    set(problem "protobuf's compiler, protoc, was not found")
  endif()
endif()
tbtrace_may_use(PROTOBUF "${Protobuf_FOUND}" "${Protobuf_VERSION}" 3.21 protobuf "libprotobuf-dev protobuf-compiler"
  "no event files for TensorBoard and no partials" ${problem})
find_package(Libbacktrace QUIET)
if(NOT Libbacktrace_FOUND)
  message(STATUS "tbtrace without libbacktrace: no files and lines in recorded C++ stacks (it was not found; docs/building.md)")
endif()

if(PROJECT_IS_TOP_LEVEL)
  find_package(cxxopts CONFIG QUIET)
  tbtrace_depends_on(cxxopts "${cxxopts_FOUND}" "${cxxopts_VERSION}" 3.1 "for cxxopts::exceptions" libcxxopts-dev)
  find_package(RE2 QUIET)  # it does not say which version it is
  if(NOT RE2_FOUND)
    message(FATAL_ERROR "tbtrace's command line needs RE2, which was not found. On Debian `apt-get install libre2-dev`; "
      "a copy in a folder of its own is found with -DCMAKE_PREFIX_PATH=FOLDER.")
  endif()
endif()
