// SPDX-License-Identifier: Apache-2.0
// The commands of the tool. Each adds itself to the application with its options, and a callback
// that does the work and leaves the exit code: 0, or 1 for a failed run that has printed its line
// on standard error. Callbacks may also throw: creek::usage_error becomes exit code 2, any other
// exception 1, with `creek: what: why` on standard error (main.cpp).
#pragma once

namespace creek::command_line {
class command;
}

namespace creek::tool {

void add_info(command_line::command& app, int& exit_code);
void add_wordcount(command_line::command& app, int& exit_code);
void add_histogram(command_line::command& app, int& exit_code);
void add_linear_regression(command_line::command& app, int& exit_code);
void add_kmeans(command_line::command& app, int& exit_code);
void add_string_match(command_line::command& app, int& exit_code);
void add_filter(command_line::command& app, int& exit_code);
void add_inverted_index(command_line::command& app, int& exit_code);
void add_compress(command_line::command& app, int& exit_code);
void add_raytrace(command_line::command& app, int& exit_code);
void add_mjpeg(command_line::command& app, int& exit_code);
void add_tpch(command_line::command& app, int& exit_code);
void add_dense(command_line::command& app, int& exit_code);  // lu, chol, qr, solve
void add_compare(command_line::command& app, int& exit_code);
void add_scc(command_line::command& app, int& exit_code);
void add_bench(command_line::command& app, int& exit_code);
void add_lapack_run(command_line::command& app, int& exit_code);
void add_generate(command_line::command& app, int& exit_code);

/// Adds `info` to `creek scc`.
void add_scc_info(command_line::command& scc);
/// Adds `tasking`, `invoke`, `linalg` and `schedulers` to `creek bench`: those that run programs of
/// other libraries beside creek's.
void add_peer_groups(command_line::command& bench, int& exit_code);

}  // namespace creek::tool
