# cmake -DINPUT=FILE -DOUTPUT=HEADER -DVARIABLE=NAME -P EmbedBytes.cmake writes a header that holds the bytes of a file as
# `inline constexpr unsigned char tbtrace::NAME[]`.
file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n    " bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${bytes}")
file(WRITE "${OUTPUT}" "// Bytes of a file of the build.\n#pragma once\n\nnamespace tbtrace {\n\n"
  "inline constexpr unsigned char ${VARIABLE}[] = {\n    ${bytes}};\n\n}  // namespace tbtrace\n")
