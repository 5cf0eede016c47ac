# SPDX-License-Identifier: Apache-2.0
# What find_package(ofp8 CONFIG) needs: the headers, the target and its version.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/ofp8)  # share/: headers only, so no architecture

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/ofp8)
install(TARGETS ofp8 EXPORT ofp8Targets)
install(EXPORT ofp8Targets NAMESPACE ofp8:: DESTINATION ${package_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/ofp8Config.cmake.in ofp8Config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(ofp8ConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/ofp8Config.cmake ${PROJECT_BINARY_DIR}/ofp8ConfigVersion.cmake
        DESTINATION ${package_dir})
