# samba_library(NAME FOLDERS folder... [LINK targets...]): a static library of every .c file in the
# named folders, "." being the calling one. samba_c_options(TARGET): the warning, sanitizer and
# floating-point flags that every C target of ours has. samba_product(): below.

# The folders of public headers, "samba/tensor.h"; the last of them are made in the build.
foreach(layer support frontend runtime tools/libsamba)
  list(APPEND SAMBA_PUBLIC_INCLUDES ${PROJECT_SOURCE_DIR}/${layer}/include)
endforeach()
foreach(layer frontend passes lowering)
  list(APPEND SAMBA_PUBLIC_INCLUDES ${PROJECT_BINARY_DIR}/${layer}/include)
endforeach()

function(samba_c_options target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -ffp-contract=off>)
  if(SAMBA_WARNINGS_ARE_ERRORS)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:-Werror>)
  endif()
  target_include_directories(${target} PUBLIC
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${SAMBA_PUBLIC_INCLUDES})
  target_compile_definitions(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE>)
  if(SAMBA_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:-fsanitize=${SAMBA_SANITIZE}
      -fno-sanitize-recover=all -fno-omit-frame-pointer -g>)
    target_link_options(${target} PUBLIC -fsanitize=${SAMBA_SANITIZE})
  endif()
endfunction()

function(samba_library name)
  cmake_parse_arguments(ARG "" "" "FOLDERS;LINK" ${ARGN})
  set(sources)
  foreach(folder ${ARG_FOLDERS})
    file(GLOB more CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.c)
    if(NOT more)
      message(FATAL_ERROR "${name}: no .c file in ${CMAKE_CURRENT_SOURCE_DIR}/${folder}")
    endif()
    list(APPEND sources ${more})
  endforeach()
  add_library(${name} STATIC ${sources})
  samba_c_options(${name})
  # libsamba.so is made of these: it exports what its headers mark with SAMBA_EXPORT.
  set_target_properties(${name} PROPERTIES
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# samba_product(TARGET NAME LANGUAGE language EXPORTING archive... [ALSO archive... LINK target...])
# is what programs outside of this tree link. libNAME.so exports what the public headers declare
# with SAMBA_EXPORT, and nothing else: of the archives EXPORTING every object goes in, of those that
# they need what is used. When these are named too (ALSO), there is libNAME.a, which has all of
# them; whoever links it links LINK.
function(samba_product target name)
  cmake_parse_arguments(ARG "" "LANGUAGE" "EXPORTING;ALSO;LINK" ${ARGN})
  set(whole)
  foreach(archive ${ARG_EXPORTING})
    list(APPEND whole $<TARGET_FILE:${archive}>)
  endforeach()
  set(map ${PROJECT_SOURCE_DIR}/support/cmake/exports.map)
  file(CONFIGURE OUTPUT ${target}.c CONTENT "typedef int SambaNothing;\n")
  add_library(${target} SHARED ${CMAKE_CURRENT_BINARY_DIR}/${target}.c)
  target_link_options(${target} PRIVATE -Wl,--version-script=${map} -Wl,-Bsymbolic-functions)
  if(NOT SAMBA_SANITIZE) # a sanitizer's functions come with the program
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  target_link_libraries(${target}
    PRIVATE -Wl,--whole-archive ${whole} -Wl,--no-whole-archive ${ARG_EXPORTING})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} LINK_DEPENDS ${map}
    LINKER_LANGUAGE ${ARG_LANGUAGE}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  set_property(GLOBAL APPEND PROPERTY SAMBA_TOOLS ${target})

  set(kinds ${target})
  if(ARG_ALSO)
    set(objects)
    foreach(archive ${ARG_EXPORTING} ${ARG_ALSO})
      list(APPEND objects $<TARGET_OBJECTS:${archive}>)
    endforeach()
    add_library(${target}_static STATIC ${objects})
    target_link_libraries(${target}_static INTERFACE ${ARG_LINK})
    set_target_properties(${target}_static PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE C
      ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
    list(APPEND kinds ${target}_static)
    set_property(GLOBAL APPEND PROPERTY SAMBA_TOOLS ${target}_static)
  endif()

  # A program that linked two of them would have two copies of what they share. The names are those
  # that find_package(Samba) gives them.
  string(REGEX REPLACE "^samba_" "" short ${target})
  foreach(kind ${kinds})
    string(REPLACE ${target} ${short} exported ${kind})
    add_library(Samba::${exported} ALIAS ${kind})
    set_target_properties(${kind} PROPERTIES EXPORT_NAME ${exported}
      INTERFACE_SAMBA_LIBRARY ${kind} COMPATIBLE_INTERFACE_STRING SAMBA_LIBRARY)
    foreach(folder ${SAMBA_PUBLIC_INCLUDES})
      target_include_directories(${kind} INTERFACE $<BUILD_INTERFACE:${folder}>)
    endforeach()
  endforeach()
endfunction()
