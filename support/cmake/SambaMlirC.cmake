# samba_mlir_c_api(NAME [IMPORTED] PARTS part...): an interface library for programs that use MLIR,
# through its C API or its C++ headers, together with Samba. It is used in this tree and, installed,
# by find_package(Samba COMPONENTS mlir).
#
# A process must have one MLIR. Debian's libMLIR.so exports C++ but not the C API, so the C API
# comes from its static archives and everything under it from the shared libMLIR and libLLVM. (The
# targets MLIRCAPI* themselves would bring a second, static MLIR.) The archives hold no state: a
# program may have a copy of them while libsamba.so has its own.
function(samba_mlir_c_api name)
  cmake_parse_arguments(ARG "IMPORTED" "" "PARTS" ${ARGN})
  set(archives)
  foreach(part ${ARG_PARTS})
    list(APPEND archives $<TARGET_FILE:MLIRCAPI${part}>)
  endforeach()
  if(ARG_IMPORTED)
    add_library(${name} INTERFACE IMPORTED)
  else()
    add_library(${name} INTERFACE)
  endif()
  target_link_libraries(${name}
    INTERFACE -Wl,--start-group ${archives} -Wl,--end-group MLIR LLVM stdc++)
  target_include_directories(${name} SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
endfunction()
