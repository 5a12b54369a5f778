// SPDX-License-Identifier: Apache-2.0
// A memory that does not satisfy the memory policy, and the messages that the compiler has to give.
#include <creek/core/protocols/central_barrier.hpp>
#include <creek/host/memory.hpp>

using barrier_on_host = creek::central_barrier<creek::host_backend::memory>;

struct no_memory {};

#ifdef BARRIER_WITHOUT_A_MEMORY
// expect: constraint failure
// expect: memory_policy
using barrier_nowhere = creek::central_barrier<no_memory>;
#endif
#ifdef WORD_OF_SIXTEEN_BYTES
// expect: static assertion failed
// expect: memory_word
static_assert(creek::memory_word<unsigned __int128>);
#endif
