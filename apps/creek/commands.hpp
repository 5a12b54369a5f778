// SPDX-License-Identifier: Apache-2.0
// The commands of the tool. Each adds itself to the application with its options, and a callback
// that does the work and leaves the exit code: 0, or 1 for a failed run that has printed its line
// on standard error. Callbacks may also throw: creek::usage_error becomes exit code 2, any other
// exception 1, with `creek: what: why` on standard error (main.cpp).
#pragma once

namespace CLI {
class App;
}

namespace creek::tool {

void add_info(CLI::App& app, int& exit_code);
void add_wordcount(CLI::App& app, int& exit_code);
void add_histogram(CLI::App& app, int& exit_code);
void add_linear_regression(CLI::App& app, int& exit_code);
void add_kmeans(CLI::App& app, int& exit_code);
void add_string_match(CLI::App& app, int& exit_code);
void add_filter(CLI::App& app, int& exit_code);
void add_inverted_index(CLI::App& app, int& exit_code);
void add_tpch(CLI::App& app, int& exit_code);
void add_dense(CLI::App& app, int& exit_code);  // lu, chol, qr, solve
void add_compare(CLI::App& app, int& exit_code);
void add_scc(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);

}  // namespace creek::tool
