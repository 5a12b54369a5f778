// SPDX-License-Identifier: Apache-2.0
// Lets backends/src/registry.cpp make this backend. Made by name it has as many workers as host
// has.
#include <creek/tasking/ext/backend_registry.hpp>
#include <creek/tbb.hpp>

const creek::ext::backend_entry creek_backend_tbb{
    .make =
        [](const creek::scheduler_options& options) { return creek::tbb_backend(options).make(); },
    .max_cpus = creek::tbb_backend::max_workers};
