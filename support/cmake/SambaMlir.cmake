# The MLIR half: finding MLIR 22, TableGen, and how things link.
#
# Debian's libMLIR.so exports C++ but not MLIR's C API, so programs link the static MLIRCAPI* archives and, for everything
# under them, the shared libMLIR and libLLVM. C++ must be compiled by clang: with GNU's compiler the same trait gets two
# identities across that border, and correct IR is refused ("block with no terminator").
if(NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX})
  find_program(SAMBA_CLANGXX NAMES clang++-22 clang++)
  if(SAMBA_CLANGXX)
    set(CMAKE_CXX_COMPILER ${SAMBA_CLANGXX})
  endif()
endif()
enable_language(CXX)
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "the MLIR half needs clang++-22 for its C++, but CMAKE_CXX_COMPILER is ${CMAKE_CXX_COMPILER} (${CMAKE_CXX_COMPILER_ID}): "
    "linked against the distribution's MLIR, code of that compiler gives traits a second identity and correct IR is refused. "
    "Configure with -DCMAKE_CXX_COMPILER=clang++-22, or with -DSAMBA_ENABLE_MLIR=OFF for the half without MLIR.")
endif()
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_EXTENSIONS OFF)
find_package(MLIR 22.1 REQUIRED CONFIG HINTS ${LLVM_DIR}/../mlir /usr/lib/llvm-22/lib/cmake/mlir)
find_program(SAMBA_MLIR_TBLGEN NAMES mlir-tblgen PATHS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)

# MLIR's C API: archives of the parts we use (and the whole set for registering everything in samba-opt).
set(archives)
foreach(part IR Debug Interfaces Transforms Arith ControlFlow Func Index Linalg Math MemRef MLProgram SCF Tensor Tosa Conversion Target)
  list(APPEND archives $<TARGET_FILE:MLIRCAPI${part}>)
endforeach()
add_library(samba_mlir_c INTERFACE)
target_link_libraries(samba_mlir_c INTERFACE -Wl,--start-group ${archives} -Wl,--end-group MLIR LLVM)
target_include_directories(samba_mlir_c SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})

# samba_tablegen(INPUT.td OUTPUT.inc ARGUMENTS...): one generated file beside the build's mirror of the calling folder. Files that
# the input includes and that are themselves generated are named by SAMBA_TABLEGEN_DEPENDS.
function(samba_tablegen input output)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${output})
  get_filename_component(folder ${out} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${out} DEPFILE ${out}.d
    COMMAND ${SAMBA_MLIR_TBLGEN} ${ARGN} -I ${CMAKE_SOURCE_DIR} -I ${CMAKE_BINARY_DIR} -I ${MLIR_INCLUDE_DIRS}
      ${CMAKE_CURRENT_SOURCE_DIR}/${input} -o ${out} -d ${out}.d
      --write-if-changed
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${input} ${SAMBA_TABLEGEN_DEPENDS} VERBATIM)
  set_property(DIRECTORY APPEND PROPERTY SAMBA_GENERATED ${out})
endfunction()

# samba_declare_passes(NAME): passes.inc from the folder's Passes.td; register.cpp sees every pass of it defined.
function(samba_declare_passes name)
  samba_tablegen(Passes.td passes.inc -gen-pass-decls -name ${name})
  file(STRINGS Passes.td passes REGEX "^def [A-Za-z0-9]+ : Pass<")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS Passes.td)
  set(definitions)
  foreach(pass ${passes})
    string(REGEX REPLACE "^def ([A-Za-z0-9]+) .*$" "\\1" pass "${pass}")
    string(TOUPPER "GEN_PASS_DEF_${pass}" definition)
    list(APPEND definitions ${definition})
  endforeach()
  set_property(SOURCE register.cpp APPEND PROPERTY COMPILE_DEFINITIONS ${definitions})
endfunction()

# samba_mlir_library(NAME [FOLDERS...] [LINK targets...]): the folder's C, its C++ glue and what samba_tablegen made here.
function(samba_mlir_library name)
  cmake_parse_arguments(ARG "" "" "FOLDERS;LINK" ${ARGN})
  samba_library(${name} FOLDERS ${ARG_FOLDERS} LINK ${ARG_LINK})
  set(glue)
  set(folders . ${ARG_FOLDERS})
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    file(GLOB more CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND glue ${more})
  endforeach()
  get_property(generated DIRECTORY PROPERTY SAMBA_GENERATED)
  target_sources(${name} PRIVATE ${glue} ${generated})
  target_link_libraries(${name} PUBLIC samba_mlir_c)
  samba_cxx_options(${name})
endfunction()

# Glue is translated at -O1 for compile time: nothing hot is in it.
function(samba_cxx_options target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-O1 -fno-rtti -fno-exceptions -fvisibility-inlines-hidden -Wall -Wno-unused-parameter>)
endfunction()

# The reference documentation, from the same TableGen: `ninja samba-docs` writes build/docs/*.md.
function(samba_reference name input)
  set(out ${CMAKE_BINARY_DIR}/docs/${name}.md)
  add_custom_command(OUTPUT ${out} COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/docs
    COMMAND ${SAMBA_MLIR_TBLGEN} ${ARGN} -I ${CMAKE_SOURCE_DIR} -I ${CMAKE_BINARY_DIR} -I ${MLIR_INCLUDE_DIRS}
      ${CMAKE_CURRENT_SOURCE_DIR}/${input} -o ${out}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${input} ${SAMBA_TABLEGEN_DEPENDS} VERBATIM)
  add_custom_target(samba-docs-${name} DEPENDS ${out})
  set_property(GLOBAL APPEND PROPERTY SAMBA_REFERENCES samba-docs-${name})
endfunction()
