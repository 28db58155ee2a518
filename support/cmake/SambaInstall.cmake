# What `cmake --install` puts below a prefix, which may be moved afterwards:
#
#   bin/                     the tools
#   lib/                     libsamba and libsamba-simulator, shared and static; libsamba-compiler
#   lib/samba_plugin.so      the plugin for mlir-opt
#   lib/cmake/Samba/         find_package(Samba)
#   lib/pkgconfig/           samba, samba-compiler, samba-simulator, samba-mlir
#   include/samba/           the headers
#   share/man/man1/          a man page for each tool
#   share/doc/samba/         the pages, the reference that is made of TableGen, examples/outside
#
# A build without MLIR has only what the simulator's half has.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Samba)
set(documents ${CMAKE_INSTALL_DOCDIR})
if(CMAKE_INSTALL_DOCDIR STREQUAL "${CMAKE_INSTALL_DATAROOTDIR}/doc/${PROJECT_NAME}")
  set(documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/samba)
endif()

# Libraries. Programs that link an archive load what it stands on with another file.
set(libraries simulator)
set(headers support runtime)
if(SAMBA_ENABLE_MLIR)
  list(APPEND libraries compiler samba)
  list(APPEND headers frontend tools/libsamba)
endif()
foreach(library ${libraries})
  set(target samba_${library})
  if(library STREQUAL samba)
    set(target samba)
  endif()
  install(TARGETS ${target} EXPORT SambaTargets
    DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  if(TARGET ${target}_static)
    install(TARGETS ${target}_static EXPORT SambaStaticTargets
      DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endif()
endforeach()
install(EXPORT SambaTargets NAMESPACE Samba:: DESTINATION ${package})
install(EXPORT SambaStaticTargets NAMESPACE Samba:: DESTINATION ${package})

# Headers, the generated ones among them.
foreach(folder ${SAMBA_PUBLIC_INCLUDES})
  file(RELATIVE_PATH layer ${PROJECT_SOURCE_DIR} ${folder}/..)
  if(layer IN_LIST headers) # those of the source tree
    install(DIRECTORY ${folder}/samba DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endif()
endforeach()
if(SAMBA_ENABLE_MLIR)
  foreach(layer frontend passes lowering)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/${layer}/include/samba
      DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING REGEX "\\.(h|inc)$")
  endforeach()
endif()

# Programs, the plugin, pages.
get_property(tools GLOBAL PROPERTY SAMBA_PROGRAMS)
install(TARGETS ${tools} DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY docs DESTINATION ${documents} FILES_MATCHING REGEX "\\.(md|svg)$")
install(FILES README.md CHANGELOG.md SECURITY.md CONTRIBUTING.md LICENSE DESTINATION ${documents})
if(SAMBA_ENABLE_MLIR)
  install(DIRECTORY tools/samba-reduce/ DESTINATION ${documents}/reduce USE_SOURCE_PERMISSIONS
    FILES_MATCHING PATTERN "interesting-*")
  install(TARGETS samba_plugin DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_BINARY_DIR}/docs/ DESTINATION ${documents}/reference
    FILES_MATCHING PATTERN *.md)
  install(DIRECTORY examples/outside DESTINATION ${documents}/examples)
endif()

# Man pages, from the help of the tools.
set(pages)
foreach(tool ${tools})
  set(page ${PROJECT_BINARY_DIR}/man/${tool}.1)
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/man
    COMMAND ${PROJECT_SOURCE_DIR}/support/scripts/make-man-page
      $<TARGET_FILE:${tool}> ${PROJECT_VERSION} > ${page}
    DEPENDS ${tool} ${PROJECT_SOURCE_DIR}/support/scripts/make-man-page VERBATIM)
  list(APPEND pages ${page})
endforeach()
add_custom_target(samba-man ALL DEPENDS ${pages})
set_property(GLOBAL APPEND PROPERTY SAMBA_TOOLS samba-man)
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# find_package(Samba).
configure_package_config_file(support/cmake/SambaConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/SambaConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/SambaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/SambaConfig.cmake
  ${PROJECT_BINARY_DIR}/package/SambaConfigVersion.cmake support/cmake/SambaMlirC.cmake
  DESTINATION ${package})

# pkg-config. The prefix is found from where the file lies.
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
function(samba_pkg_config name description)
  cmake_parse_arguments(ARG "" "CFLAGS;LIBS;REQUIRES_PRIVATE;LIBS_PRIVATE" "" ${ARGN})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package/${name}.pc @ONLY CONTENT
"prefix=\${pcfiledir}/@to_prefix@
libdir=\${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=\${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: @name@
Description: @description@
Version: @PROJECT_VERSION@
Cflags: @ARG_CFLAGS@
Libs: @ARG_LIBS@
Requires.private: @ARG_REQUIRES_PRIVATE@
Libs.private: @ARG_LIBS_PRIVATE@
")
  install(FILES ${PROJECT_BINARY_DIR}/package/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

set(llvm "-L${LLVM_LIBRARY_DIRS} -Wl,-rpath,${LLVM_LIBRARY_DIRS}")
samba_pkg_config(samba-simulator "Runs PEFs on the simulated RDU: values and cycles"
  CFLAGS "-I\${includedir}" LIBS "-L\${libdir} -lsamba-simulator"
  REQUIRES_PRIVATE "libelf, libcjson" LIBS_PRIVATE "${llvm} -lLLVM -lpthread -lm")
if(SAMBA_ENABLE_MLIR)
  foreach(name samba samba-compiler)
    samba_pkg_config(${name} "Compiler for reconfigurable dataflow units, as a C library"
      CFLAGS "-I\${includedir}" LIBS "-L\${libdir} -l${name}"
      REQUIRES_PRIVATE "samba-mlir, libelf, libcjson, yaml-0.1, libprotobuf-c"
      LIBS_PRIVATE "-lpthread -lm")
  endforeach()
  set(archives)
  get_property(parts GLOBAL PROPERTY MLIR_UPSTREAM_CAPI_LIBS)
  foreach(archive ${parts})
    string(APPEND archives " -l${archive}")
  endforeach()
  samba_pkg_config(samba-mlir "MLIR's C API over the MLIR and the LLVM that Samba shares"
    CFLAGS "-isystem ${LLVM_INCLUDE_DIRS}"
    LIBS "${llvm} -Wl,--start-group${archives} -Wl,--end-group -lMLIR -lLLVM -lstdc++")
endif()
