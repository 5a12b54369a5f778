// SPDX-License-Identifier: Apache-2.0
// Lets backends/src/registry.cpp make this backend.
#include <creek/scc.hpp>
#include <creek/tasking/ext/backend_registry.hpp>

const creek::ext::backend_entry creek_backend_scc{
    .make = [](const creek::scheduler_options& options) { return creek::scc(options).make(); },
    .max_cpus = 0};
