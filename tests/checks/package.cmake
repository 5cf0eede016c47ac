# SPDX-License-Identifier: Apache-2.0
# Installs the library into an empty prefix, then builds and runs tests/consumer against it; and builds it once
# more with the sources added as a subdirectory.
set(work ${BINARY_DIR}/package-check)
file(REMOVE_RECURSE ${work})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(consume name)
  run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/consumer -B ${work}/${name} -G ${GENERATOR}
      -D CMAKE_CXX_COMPILER=${CXX} ${ARGN})
  run(${CMAKE_COMMAND} --build ${work}/${name})
  run(${work}/${name}/consumer)
endfunction()

run(${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${work}/prefix)
consume(installed -D CMAKE_PREFIX_PATH=${work}/prefix -D OFP8_VERSION=${VERSION})
consume(subdirectory -D OFP8_SOURCE_DIR=${SOURCE_DIR})
