# SPDX-License-Identifier: Apache-2.0
# Runs PROGRAM with the folder DATA as its argument: what it prints must be the file EXPECTED, byte by byte.
execute_process(COMMAND ${PROGRAM} ${DATA} OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
file(READ ${EXPECTED} expected)
if(NOT printed STREQUAL expected)
  file(WRITE ${PROGRAM}.txt "${printed}")
  execute_process(COMMAND diff -u ${EXPECTED} ${PROGRAM}.txt)
  message(FATAL_ERROR "${PROGRAM} prints something else than ${EXPECTED}")
endif()
