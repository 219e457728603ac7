# tbtrace_precompile(TARGET HEADER...): for this target and those that reuse it.
function(tbtrace_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  # A time in it would keep a compiler cache from knowing it again.
  target_compile_options(${target} PRIVATE
    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()

# What every target of this project is built with.
add_library(tbtrace_build_flags INTERFACE)
target_compile_features(tbtrace_build_flags INTERFACE cxx_std_20)
target_compile_options(tbtrace_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Finds overlaps in "text" + std::string that are none: gcc.gnu.org/bugzilla, 105651.
  target_compile_options(tbtrace_build_flags INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_UNITY_BUILD)
  # Takes a source that is compiled in a group with others for a header.
  target_compile_options(tbtrace_build_flags INTERFACE -Wno-subobject-linkage)
endif()
if(TBTRACE_SANITIZE)
  target_compile_options(tbtrace_build_flags INTERFACE
    -fsanitize=${TBTRACE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Functions of CUPTI are called with types of our own, which only look alike.
    target_compile_options(tbtrace_build_flags INTERFACE -fno-sanitize=function)
  endif()
  if(TBTRACE_SANITIZE MATCHES "address")
    # The address sanitizer finds nearly all of it, and it takes up to a fifth of the time that a file takes to compile.
    target_compile_options(tbtrace_build_flags INTERFACE -fno-sanitize=object-size)
  endif()
  target_compile_definitions(tbtrace_build_flags INTERFACE TBTRACE_SANITIZED)
  target_link_options(tbtrace_build_flags INTERFACE -fsanitize=${TBTRACE_SANITIZE})
endif()
