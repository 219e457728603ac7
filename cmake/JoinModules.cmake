include(EmbedText)  # tbtrace_write_if_new()

# tbtrace_join_modules(OUTPUT LIST... [EXPORTS NAME...]) joins the ES modules that the files LIST name, a path below their
# folder on each line, into one script OUTPUT: without imports, and without the word `export`. With EXPORTS it is an ES
# module that exports these. The modules stand in an order in which none uses a later one while it is loaded, and no two
# have a name of their own alike (web/tests/modules.test.js checks both).
function(tbtrace_join_modules output)
  cmake_parse_arguments(PARSE_ARGV 1 join "" "" "EXPORTS")
  set(script "")
  foreach(list IN LISTS join_UNPARSED_ARGUMENTS)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
    get_filename_component(folder "${list}" DIRECTORY)
    file(STRINGS "${list}" modules)
    foreach(module IN LISTS modules)
      get_filename_component(module "${folder}/${module}" ABSOLUTE)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${module}")
      file(READ "${module}" text)
      string(REGEX REPLACE "(^|\n)import [^;]*;" "\\1" text "${text}")
      string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
      # Comments that have lines of their own.
      string(REGEX REPLACE "\n *//[^\n]*" "" text "\n${text}")
      string(REGEX REPLACE "\n */\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
      # Types within lines, and indentation: 5 KB of the compressed page.
      string(REGEX REPLACE "/\\*\\* @type [^*]*\\*/ ?" "" text "${text}")
      string(REGEX REPLACE "\n +" "\n" text "${text}")
      string(APPEND script "${text}")
    endforeach()
  endforeach()
  if(join_EXPORTS)
    list(JOIN join_EXPORTS ", " names)
    string(APPEND script "export { ${names} };\n")
  else()
    set(script "\"use strict\";\n(() => {\n${script}})();\n")
  endif()
  tbtrace_write_if_new("${output}" "${script}")
endfunction()

# tbtrace_join_styles(OUTPUT INPUT...) writes one style sheet after the other.
function(tbtrace_join_styles output)
  set(all "")
  foreach(style IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${style}")
    file(READ "${style}" text)
    string(APPEND all "${text}")
  endforeach()
  tbtrace_write_if_new("${output}" "${all}")
endfunction()
