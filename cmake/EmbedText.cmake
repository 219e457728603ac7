# tbtrace_embed_text(OUTPUT VARIABLE INPUT) writes a header OUTPUT that holds the text of the file
# INPUT as `inline constexpr std::string_view tbtrace::VARIABLE`. CMake runs again when
# INPUT changes; OUTPUT is touched only if its content changes.
function(tbtrace_embed_text output variable input)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${input}")
  file(READ "${input}" text)
  string(FIND "${text}" ")tbtrace\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${input} holds what ends a raw string; change that text")
  endif()
  # Compilers limit one literal (MSVC to 16 KiB), but not several in a row.
  set(piece_size 12000)
  string(LENGTH "${text}" left)
  set(at 0)
  set(literals "")
  while(at LESS left)
    string(SUBSTRING "${text}" ${at} ${piece_size} piece)
    string(APPEND literals "\n    R\"tbtrace(${piece})tbtrace\"")
    math(EXPR at "${at} + ${piece_size}")
  endwhile()
  get_filename_component(name "${input}" NAME)
  string(CONCAT header
    "// The text of ${name}, made by the build.\n"
    "#pragma once\n\n#include <string_view>\n\n"
    "namespace tbtrace {\n\n"
    "inline constexpr char ${variable}Bytes[] =${literals};\n"
    # Without the length, compilers count the characters of a constant, and stop at a limit.
    "inline constexpr std::string_view ${variable}(${variable}Bytes, sizeof(${variable}Bytes) - 1);\n\n"
    "}  // namespace tbtrace\n")
  tbtrace_write_if_new("${output}" "${header}")
endfunction()

# tbtrace_embed_files(OUTPUT VARIABLE FILE...) writes a header OUTPUT that holds the files as
# `inline constexpr std::pair<std::string_view, std::string_view> tbtrace::VARIABLE[]`: names without folders, and texts.
# The headers of the texts lie beside it.
function(tbtrace_embed_files output variable)
  get_filename_component(folder "${output}" DIRECTORY)
  set(includes "")
  set(rows "")
  foreach(file IN LISTS ARGN)
    get_filename_component(name "${file}" NAME)
    string(REGEX REPLACE "[^A-Za-z0-9]" "" text "${variable}${name}")
    tbtrace_embed_text("${folder}/${text}.h" ${text} "${file}")
    string(APPEND includes "#include \"${text}.h\"\n")
    string(APPEND rows "    {\"${name}\", ${text}},\n")
  endforeach()
  string(CONCAT header "// Files of the build.\n#pragma once\n\n#include <string_view>\n#include <utility>\n\n${includes}\n"
    "namespace tbtrace {\n\ninline constexpr std::pair<std::string_view, std::string_view> ${variable}[] = {\n${rows}};\n\n"
    "}  // namespace tbtrace\n")
  tbtrace_write_if_new("${output}" "${header}")
endfunction()

# tbtrace_write_if_new(OUTPUT TEXT) writes a file, unless it has this text already.
function(tbtrace_write_if_new output text)
  set(old "")
  if(EXISTS "${output}")
    file(READ "${output}" old)
  endif()
  if(NOT text STREQUAL old)
    file(WRITE "${output}" "${text}")
  endif()
endfunction()
