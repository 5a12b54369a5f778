// SPDX-License-Identifier: Apache-2.0
// The runs of this job, over any input.
#include <creek/mapreduce/run.hpp>
#include <creek/mapreduce/word_count.hpp>

namespace creek::mapreduce {

template result<word_count> detail::run_source(const word_count&, split_source<text_split>,
                                               const options&);

}  // namespace creek::mapreduce
