# SPDX-License-Identifier: Apache-2.0
# Run by cpack on the installed files before it makes the packages: compresses manual pages and Debian's changelogs, as
# Debian wants them. gzip is on every Debian; -n leaves the time out.
file(GLOB_RECURSE files ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*.1 ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/changelog)
list(FILTER files INCLUDE REGEX "/(man/man1|doc/[^/]+)/[^/]+$")
execute_process(COMMAND gzip -9n ${files} COMMAND_ERROR_IS_FATAL ANY)
