# The MLIR half: finding MLIR 22, TableGen, and how things link.
# C++ must be compiled by clang: with GNU's compiler the same trait gets two identities across the
# border to the distribution's libMLIR, and correct IR is refused ("block with no terminator").
include(SambaMlirC)
if(NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX})
  find_program(SAMBA_CLANGXX NAMES clang++-22 clang++)
  if(SAMBA_CLANGXX)
    set(CMAKE_CXX_COMPILER ${SAMBA_CLANGXX})
  endif()
endif()
enable_language(CXX)
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "the MLIR half needs clang++-22 for its C++, but CMAKE_CXX_COMPILER is "
    "${CMAKE_CXX_COMPILER} (${CMAKE_CXX_COMPILER_ID}): linked against the distribution's MLIR, "
    "code of that compiler gives traits a second identity and correct IR is refused. Configure "
    "with -DCMAKE_CXX_COMPILER=clang++-22, or with -DSAMBA_ENABLE_MLIR=OFF for the half without "
    "MLIR.")
endif()
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_EXTENSIONS OFF)
find_package(MLIR 22.1 REQUIRED CONFIG HINTS ${LLVM_DIR}/../mlir /usr/lib/llvm-22/lib/cmake/mlir)
find_program(SAMBA_MLIR_TBLGEN
  NAMES mlir-tblgen PATHS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)

# MLIR's C API: the parts that we use.
samba_mlir_c_api(samba_mlir_c PARTS IR Debug Interfaces Transforms Arith ControlFlow Func Index
  Linalg Math MemRef MLProgram SCF Tensor Tosa Conversion Target Affine Bufferization Complex
  Quant Shape SparseTensor Vector)
add_library(Samba::mlir ALIAS samba_mlir_c)

# The archives of MLIR and LLVM, as a script for LLVM's linker.
if(SAMBA_LINKS_WITH_LLD)
  get_property(libraries GLOBAL PROPERTY MLIR_ALL_LIBS)
  set(archives)
  foreach(library ${libraries} ${LLVM_AVAILABLE_LIBS})
    if(TARGET ${library} AND library MATCHES "^(MLIR|LLVM)")
      get_target_property(type ${library} TYPE)
      if(type STREQUAL STATIC_LIBRARY)
        list(APPEND archives $<TARGET_FILE:${library}>)
      endif()
    endif()
  endforeach()
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/llvm-archives.ld
    CONTENT "INPUT($<JOIN:${archives},\n>)\n")
endif()

# samba_link_archives(NAME): the program has in it what it uses of MLIR and LLVM. The loader binds
# libMLIR and libLLVM anew in every process, which takes longer than compiling a small model. Not
# for programs that load plugins, which bring code that must meet the same libMLIR.
function(samba_link_archives name)
  if(SAMBA_LINKS_WITH_LLD)
    # Before the shared libraries that our libraries name, and then nothing needs those.
    target_link_options(${name} PRIVATE -Wl,--as-needed -Wl,--gc-sections -Wl,--exclude-libs,ALL)
    target_link_libraries(${name} PRIVATE ${PROJECT_BINARY_DIR}/llvm-archives.ld)
  endif()
endfunction()

# samba_tablegen(INPUT.td OUTPUT.inc ARGUMENTS...): one generated file beside the build's mirror of
# the calling folder. Files that the input includes and that are themselves generated are named by
# SAMBA_TABLEGEN_DEPENDS.
function(samba_tablegen input output)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${output})
  get_filename_component(folder ${out} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${out} DEPFILE ${out}.d
    COMMAND ${SAMBA_MLIR_TBLGEN} ${ARGN}
      -I ${PROJECT_SOURCE_DIR} -I ${PROJECT_BINARY_DIR} -I ${MLIR_INCLUDE_DIRS}
      ${CMAKE_CURRENT_SOURCE_DIR}/${input} -o ${out} -d ${out}.d
      --write-if-changed
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${input} ${SAMBA_TABLEGEN_DEPENDS} VERBATIM)
  set_property(DIRECTORY APPEND PROPERTY SAMBA_GENERATED ${out})
endfunction()

# samba_declare_dialect(NAME TYPE): the C++ of NAME/Dialect.td, class by class in the build's mirror
# of NAME: classes.inc declares them, class_bodies.inc defines them, add_classes.inc adds them to
# the dialect in its initialize(). TYPE is `type` when the dialect has types of its own.
function(samba_declare_dialect name type)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  foreach(part decls defs)
    samba_tablegen(${name}/Dialect.td ${name}/dialect-${part}.inc
      -gen-dialect-${part} -dialect=${name})
    samba_tablegen(${name}/Dialect.td ${name}/attribute-${part}.inc
      -gen-attrdef-${part} -attrdefs-dialect=${name})
    if(type)
      samba_tablegen(${name}/Dialect.td ${name}/type-${part}.inc
        -gen-typedef-${part} -typedefs-dialect=${name})
    endif()
    samba_tablegen(${name}/Dialect.td ${name}/op-${part}.inc -gen-op-${part})

    set(text)
    foreach(guard ATTRDEF TYPEDEF OP)
      string(APPEND text "#define GET_${guard}_CLASSES\n")
    endforeach()
    foreach(kind dialect attribute ${type} op)
      string(APPEND text "#include \"${folder}/${kind}-${part}.inc\"\n")
    endforeach()
    set(text_${part} "/* Made from ${folder}/Dialect.td. */\n${text}")
  endforeach()
  file(CONFIGURE OUTPUT ${name}/classes.inc CONTENT "${text_decls}")
  file(CONFIGURE OUTPUT ${name}/class_bodies.inc CONTENT "${text_defs}")

  set(lists "addAttributes ATTRDEF attribute" "addOperations OP op")
  if(type)
    list(APPEND lists "addTypes TYPEDEF type")
  endif()
  set(text "/* Made from ${folder}/Dialect.td. */\n")
  foreach(list ${lists})
    separate_arguments(list)
    list(GET list 0 function)
    list(GET list 1 guard)
    list(GET list 2 kind)
    set(include "#include \"${folder}/${kind}-defs.inc\"\n")
    string(APPEND text "${function}<\n#define GET_${guard}_LIST\n${include}>();\n")
  endforeach()
  file(CONFIGURE OUTPUT ${name}/add_classes.inc CONTENT "${text}")
endfunction()

# samba_declare_passes(NAME): what the folder's Passes.td says of each `def Verb : Pass<...>` with
# options `first` and `second`:
#   passes.inc        its C++ base class (mlir-tblgen);
#   passes.h          its C body, `bool sambaVerb(MlirOperation op, const char *first, ...)`;
#   pass_classes.inc  SAMBA_PASS(Verb, (op, first.c_str(), ...)), which pipeline/register.cpp reads;
#                     registerNAMEPasses; and what the next file declares;
#   include/samba/HEADER   the passes in MLIR's C API: mlirRegisterNAMEPasses, mlirCreateNAMEVerb.
function(samba_declare_passes name header)
  samba_tablegen(Passes.td passes.inc -gen-pass-decls -name ${name})
  samba_tablegen(Passes.td include/samba/${header} -gen-pass-capi-header --prefix ${name})
  samba_tablegen(Passes.td passes_c_api.inc -gen-pass-capi-impl --prefix ${name})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS Passes.td)
  file(READ Passes.td text)
  string(REGEX MATCHALL "(\ndef [A-Za-z0-9]+ : Pass<|Option<\"[a-z_]+\")" entries "${text}")
  set(passes)
  foreach(entry ${entries})
    if(entry MATCHES "def ([A-Za-z0-9]+)")
      set(pass ${CMAKE_MATCH_1})
      list(APPEND passes ${pass})
      set(parameters_${pass} "MlirOperation op")
      set(arguments_${pass} "op")
    elseif(entry MATCHES "\"([a-z_]+)\"")
      string(APPEND parameters_${pass} ", const char *${CMAKE_MATCH_1}")
      string(APPEND arguments_${pass} ", ${CMAKE_MATCH_1}.c_str()")
    endif()
  endforeach()

  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(bodies)
  set(definitions)
  set(classes)
  foreach(pass ${passes})
    string(TOUPPER ${pass} upper)
    string(APPEND bodies "bool samba${pass}(${parameters_${pass}});\n")
    string(APPEND definitions "#define GEN_PASS_DEF_${upper}\n")
    string(APPEND classes "SAMBA_PASS(${pass}, (${arguments_${pass}}))\n")
  endforeach()
  set(from "/* Made from ${folder}/Passes.td. */\n")
  file(CONFIGURE OUTPUT passes.h
    CONTENT "${from}#pragma once\n#include \"mlir-c/IR.h\"\n\n${bodies}")
  set(include "#include \"${folder}/passes.inc\"\n")
  set(declared "#define GEN_PASS_DECL\n${include}")
  set(registered "#define GEN_PASS_REGISTRATION\n${include}")
  set(c_api "#include \"${folder}/passes_c_api.inc\"\n")
  set(c_api "extern \"C\" {\n#include \"samba/${header}\"\n${c_api}}\n")
  file(CONFIGURE OUTPUT pass_classes.inc
    CONTENT "${from}${definitions}${declared}${classes}${registered}${c_api}")
endfunction()

# samba_mlir_library(NAME [FOLDERS...] [LINK targets...]): the folder's C, its C++ glue and what
# samba_tablegen made here.
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
  set(options -O1 -fno-rtti -fno-exceptions -fvisibility-inlines-hidden -Wall
    -Wno-unused-parameter)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${options}>")
endfunction()

# The reference documentation, from the same TableGen: `ninja samba-docs` writes build/docs/*.md.
function(samba_reference name input)
  set(out ${PROJECT_BINARY_DIR}/docs/${name}.md)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/docs
    COMMAND ${SAMBA_MLIR_TBLGEN} ${ARGN}
      -I ${PROJECT_SOURCE_DIR} -I ${PROJECT_BINARY_DIR} -I ${MLIR_INCLUDE_DIRS}
      ${CMAKE_CURRENT_SOURCE_DIR}/${input} -o ${out}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${input} ${SAMBA_TABLEGEN_DEPENDS} VERBATIM)
  add_custom_target(samba-docs-${name} DEPENDS ${out})
  set_property(GLOBAL APPEND PROPERTY SAMBA_REFERENCES samba-docs-${name})
endfunction()
