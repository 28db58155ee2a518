# samba_library(NAME FOLDERS folder... [LINK targets...]): a static library of every .c file in the
# named folders, "." being the calling one. samba_c_options(TARGET): the warning, sanitizer and
# floating-point flags that every C target of ours has.
function(samba_c_options target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Werror -ffp-contract=off>)
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  foreach(layer support frontend runtime tools/libsamba)
    if(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/${layer}/include) # public headers: "samba/tensor.h"
      target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/${layer}/include)
    endif()
  endforeach()
  # Made in the build: samba/builders.inc.
  target_include_directories(${target} PUBLIC ${CMAKE_BINARY_DIR}/frontend/include)
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
