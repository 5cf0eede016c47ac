# SPDX-License-Identifier: Apache-2.0
# Flags of our own tests, examples and benchmarks. Users of ofp8::ofp8 never see them.
add_library(ofp8_developer INTERFACE)
target_link_libraries(ofp8_developer INTERFACE ofp8::ofp8)
target_compile_options(ofp8_developer INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)

if(OFP8_SANITIZE)
  target_compile_options(ofp8_developer INTERFACE -fsanitize=${OFP8_SANITIZE} -fno-sanitize-recover=all
                                                  -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # false alarms in std::regex and std::function under -fsanitize
    target_compile_options(ofp8_developer INTERFACE -Wno-maybe-uninitialized)
  endif()
  target_link_options(ofp8_developer INTERFACE -fsanitize=${OFP8_SANITIZE})
endif()
