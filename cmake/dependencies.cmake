# SPDX-License-Identifier: Apache-2.0
# What tests, examples and benchmarks use. An installed package wins; otherwise FetchContent takes the commit
# named here. The download path has not been run where this project is developed (no network): the packages
# of Debian 12 are what is tested.
include(FetchContent)

# ofp8_dependency(<package> <target> <git repository> <commit>): afterwards <target> exists.
macro(ofp8_dependency package target repository commit)
  find_package(${package} QUIET)
  if(NOT TARGET ${target})
    message(STATUS "${package} is not installed: fetching ${commit} from ${repository}")
    FetchContent_Declare(${package} GIT_REPOSITORY ${repository} GIT_TAG ${commit})
    FetchContent_MakeAvailable(${package})
  endif()
endmacro()

if(OFP8_BUILD_TESTS)  # v2.13.10
  ofp8_dependency(Catch2 Catch2::Catch2 https://github.com/catchorg/Catch2
                  182c910b4b63ff587a3440e08f84f70497e49a81)
endif()

if(OFP8_BUILD_EXAMPLES)  # v3.11.3
  ofp8_dependency(nlohmann_json nlohmann_json::nlohmann_json https://github.com/nlohmann/json
                  9cca280a4d0ccf0c08f47a99aa71d1b0e52f8d03)
endif()

if(OFP8_BUILD_BENCH)  # v1.8.3
  set(BENCHMARK_ENABLE_TESTING OFF)
  ofp8_dependency(benchmark benchmark::benchmark https://github.com/google/benchmark
                  344117638c8ff7e239044fd0fa7085839fc03021)
endif()

find_package(Threads REQUIRED)
