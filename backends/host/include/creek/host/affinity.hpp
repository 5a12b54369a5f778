// SPDX-License-Identifier: Apache-2.0
// Affinity and name of a thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <creek/core/language.hpp>

namespace creek::host_backend {

/// Returns the operating system numbers of the processing units that the calling thread may run on,
/// ascending. Works for any number of CPUs. Throws creek::error if the kernel refuses.
std::vector<int> affinity_mask();

/// Binds the calling thread to one processing unit. Throws creek::error, naming the unit, if it
/// does not exist, is offline or outside this process's cpuset; the thread then stays where it was.
void bind_this_thread(int os_index);

/// Lets the calling thread run on these units (what affinity_mask() returned earlier).
void allow_this_thread(const std::vector<int>& os_indices);

/// Names the calling thread for debuggers, top and traces. The kernel keeps 15 bytes; a longer name
/// loses its middle, so that the number at the end of "my-long-program-12" survives.
void name_this_thread(std::string_view name) noexcept;

/// Returns the name of the calling thread.
std::string this_thread_name();

}  // namespace creek::host_backend
