// SPDX-License-Identifier: Apache-2.0
// Objects that live on a worker of a rank and are called from other ranks: object_space::make_on()
// with a worker_address (creek/core/objects/object_space.hpp).
#pragma once

#include <creek/core/objects/object_space.hpp>
#include <creek/tasking/runtime.hpp>

namespace creek {

/// Lets objects of the object space live on the workers of a runtime, which must outlive it. Each
/// rank calls this for its own workers, in the thread of the object space, right after it has made
/// that: before it waits for anything. Objects take turns as those of remote<T> do; a call ends
/// when all that it spawned has ended. Throws usage_error if the object space has workers already,
/// if the runtime has been shut down, and on the simulated chip, whose time stands still outside of
/// run().
void use_workers(object_space& space, runtime& workers);

}  // namespace creek
