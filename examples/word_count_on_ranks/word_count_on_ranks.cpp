// SPDX-License-Identifier: Apache-2.0
// The job of word_count on several machines: number of words of each length in files that all
// ranks can read. Started as `mpirun -n 4 word_count_on_ranks FILE...`, or alone.
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/mapreduce.hpp>
#include <creek/mapreduce/machines.hpp>
#include <creek/mpi.hpp>

struct words_by_length {
  using key_type = std::size_t;
  using value_type = std::uint64_t;

  template <class Emit>
  static void map(std::string_view text, Emit& emit) {
    creek::mapreduce::for_each_word(
        text, [&](std::string_view word) { emit(word.size(), value_type{1}); });
  }

  static void combine(value_type& into, value_type&& from) { into += from; }
};

int main(int count, char** arguments) {
  // An exception on any rank ends all of them with one line and exit code 1.
  return creek::ranks(count, arguments, [&](creek::mpi_communicator& all) {
    if (count < 2) throw creek::usage_error("usage: word_count_on_ranks FILE-OR-FOLDER...");
    creek::mapreduce::text_files files(std::vector<std::string>(arguments + 1, arguments + count));
    creek::runtime rt;  // the workers of this rank
    // The result is on rank 0, and empty on the others.
    for (const auto& [length, words] :
         creek::mapreduce::run_on_machines(words_by_length{}, all, rt, files)) {
      std::printf("%4zu letters: %llu words\n", length, static_cast<unsigned long long>(words));
    }
  });
}
