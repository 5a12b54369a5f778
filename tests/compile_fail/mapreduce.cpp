// SPDX-License-Identifier: Apache-2.0
// Mistakes in jobs of a user, and the messages that the compiler has to give for them.
#include <creek/core/messages/communicator.hpp>
#include <creek/host/memory.hpp>
#include <creek/mapreduce/inputs/several_inputs.hpp>
#include <creek/mapreduce/ranks.hpp>
#include <creek/mapreduce/run.hpp>
#include <creek/mapreduce/spill.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

namespace mr = creek::mapreduce;
using communicator = creek::communicator<creek::host_backend::memory>;

/// A correct job, and what the mistaken ones are made from.
template <class Key = std::size_t, class Value = std::uint64_t>
struct job_of {
  using key_type = Key;
  using value_type = Value;
  template <class Emit>
  static void map(std::string_view, Emit& emit) {
    emit(key_type{}, value_type{});
  }
  static void combine(value_type& into, value_type&& from) { into = std::move(from); }
};
using correct = job_of<>;

struct no_types {
  template <class Emit>
  static void map(std::string_view, Emit&) {}
};
struct no_map {
  using key_type = std::size_t;
  using value_type = std::uint64_t;
  static void combine(value_type&, value_type&&) {}
};
struct neither_combines_nor_reduces : no_types {
  using key_type = std::size_t;
  using value_type = std::uint64_t;
};
struct maps_numbers : no_map {
  template <class Emit>
  static void map(std::span<const int>, Emit&) {}
};
struct map_changes_the_job : no_map {
  template <class Emit>
  void map(std::string_view, Emit&) {}
};
struct emits_other_keys : no_map {
  template <class Emit>
  static void map(std::string_view text, Emit& emit) {
    emit(text, value_type{1});
  }
};
struct combines_copies : correct {
  static value_type combine(value_type a) { return a; }
};
struct reduces_one_value : correct {
  static value_type reduce(const key_type&, value_type only) { return only; }
};
struct hashes_text : correct {
  static std::uint64_t hash(std::string_view text) { return text.size(); }
};
struct orders_numbers : correct {
  static bool before(std::size_t a, std::size_t b) { return a > b; }
};
struct dense_text : job_of<std::string> {
  static constexpr std::size_t dense_keys = 10;
};
struct own_table : correct {
  using table_type = std::string;
};

struct plain {
  int n = 0;
  auto operator<=>(const plain&) const = default;
};
struct unequal {
  int n = 0;
};
template <>
struct std::hash<unequal> {
  std::size_t operator()(const unequal& key) const { return static_cast<std::size_t>(key.n); }
};
struct pinned {
  pinned() = default;
  pinned(const pinned&) = delete;
};
struct unordered {
  int n = 0;
  bool operator==(const unordered&) const = default;
};
template <class Key>
struct grouped_by {
  using key_type = Key;
  using value_type = int;
  template <class Emit>
  static void map(std::string_view, Emit& emit) {
    emit(Key{}, 1);
  }
  static int reduce(const Key&, const mr::value_list<Key, int>&) { return 0; }
};
struct grouped_without_order : grouped_by<unordered> {
  static std::uint64_t hash(const unordered& key) { return static_cast<std::uint64_t>(key.n); }
};
struct combined_without_order : job_of<unordered> {
  static std::uint64_t hash(const unordered& key) { return static_cast<std::uint64_t>(key.n); }
};

struct left {
  int n = 0;
};
struct right {
  int n = 0;
};
template <class T>
using piece_of = mr::tagged_split<T, mr::text_split>;
template <class Value = mr::one_of<left, right>>
struct joins {
  using key_type = std::size_t;
  using value_type = Value;
  template <class Emit>
  static void map(const piece_of<left>&, Emit& emit) {
    emit(1, left{});
  }
  template <class Emit>
  static void map(const piece_of<right>&, Emit& emit) {
    emit(1, right{});
  }
  static int reduce(const key_type&, const mr::value_list<key_type, value_type>& all) {
    int sum = 0;
    for (const left& one : mr::values_of<left>(all)) sum += one.n;
    return sum;
  }
};
struct maps_one_input : joins<> {
  template <class Emit>
  static void map(const piece_of<left>&, Emit&) {}
};
template <class T, class Base>
struct reduces_values_of : Base {
  static int reduce(const std::size_t&,
                    const mr::value_list<std::size_t, typename Base::value_type>& all) {
    return mr::values_of<T>(all).empty();
  }
};
struct joins_views : joins<mr::one_of<left, right, std::string_view>> {};

struct reduces_to_a_pointer : correct {
  static std::unique_ptr<int> reduce(const key_type&, const mr::values<correct>&) { return {}; }
};

void program(mr::text_view& text, communicator& ranks, const mr::memory_limit& limit) {
#ifndef MISTAKE
  (void)mr::run(correct{}, text);
  (void)mr::run(correct{}, text, {}, limit);
  (void)mr::run_to(correct{}, text, {}, limit, [](const mr::record_of<correct>&) {});
  (void)mr::run_on_ranks(correct{}, ranks, text);
  (void)mr::run(grouped_without_order{}, text, {.sort = false});
  (void)mr::run(combined_without_order{}, text, {.sort = false});
  const mr::several_inputs both(mr::tagged<left>(text), mr::tagged<right>(text));
  (void)mr::run(joins<>{}, both);
  (void)mr::run(joins<>{}, both, {}, limit);
  (void)mr::run_on_ranks(joins<>{}, ranks, both);
  (void)mr::run(correct{}, both);
#endif

#ifdef JOB_WITHOUT_TYPES
  // expect: a job needs a key_type and a value_type, both movable
  (void)mr::run(no_types{}, text);
#endif
#ifdef JOB_WITHOUT_MAP
  // expect: a job needs map\(split, emit\) const, for the type of splits that the input has
  (void)mr::run(no_map{}, text);
#endif
#ifdef MAP_OF_OTHER_SPLITS
  // expect: a job needs map\(split, emit\) const, for the type of splits that the input has
  (void)mr::run(maps_numbers{}, text);
#endif
#ifdef MAP_IS_NOT_CONST
  // expect: a job needs map\(split, emit\) const, for the type of splits that the input has
  (void)mr::run(map_changes_the_job{}, text);
#endif
#ifdef MAP_OF_A_LIMITED_RUN
  // expect: a job needs map\(split, emit\) const, for the type of splits that the input has
  (void)mr::run(no_map{}, text, {}, limit);
#endif
#ifdef MAP_EMITS_OTHER_KEYS
  // expect: no match for call to .* \(std::string_view&
  (void)mr::run(emits_other_keys{}, text);
#endif
#ifdef JOB_WITHOUT_COMBINE
  // expect: a job needs combine\(\) or reduce\(\)
  (void)mr::run(neither_combines_nor_reduces{}, text);
#endif
#ifdef COMBINE_OF_ONE_VALUE
  // expect: combine\(\) of a job is called with \(value_type& into, value_type&& from\)
  (void)mr::run(combines_copies{}, text);
#endif
#ifdef REDUCE_OF_ONE_VALUE
  // expect: reduce\(\) of a job is called with \(const key_type&, const values<Job>& all\)
  (void)mr::run(reduces_one_value{}, text);
#endif
#ifdef HASH_OF_OTHER_KEYS
  // expect: hash\(\) of a job is called with \(const key_type&\) and returns std::uint64_t
  (void)mr::run(hashes_text{}, text);
#endif
#ifdef KEY_WITHOUT_A_HASH
  // expect: a key needs a hash: specialise std::hash, or give a job a hash\(key\)
  (void)mr::run(job_of<plain>{}, text);
#endif
#ifdef KEY_WITHOUT_EQUALITY
  // expect: pairs of equal keys come together: the key_type of a job needs operator==
  (void)mr::run(job_of<unequal>{}, text);
#endif
#ifdef PART_OF_A_KEY_WITHOUT_A_HASH
  // expect: a key needs a hash: specialise std::hash, or give a job a hash\(key\)
  (void)mr::run(job_of<std::tuple<int, plain>>{}, text);
#endif
#ifdef GROUPED_KEY_WITHOUT_A_HASH
  // expect: a key needs a hash: specialise std::hash, or give a job a hash\(key\)
  (void)mr::run(grouped_by<plain>{}, text);
#endif
#ifdef GROUPED_KEY_WITHOUT_EQUALITY
  // expect: pairs of equal keys come together: the key_type of a job needs operator==
  (void)mr::run(grouped_by<unequal>{}, text);
#endif
#ifdef SPILLED_KEY_WITHOUT_EQUALITY
  // expect: pairs of equal keys come together: the key_type of a job needs operator==
  (void)mr::run(grouped_by<unequal>{}, text, {}, limit);
#endif
#ifdef ORDER_OF_OTHER_RECORDS
  // expect: before\(\) of a job is called with two const record_of<Job>& and returns bool
  (void)mr::run(orders_numbers{}, text);
#endif
#ifdef GROUPED_KEY_WITHOUT_ORDER
  // expect: grouping needs keys that are integers, byte strings or ordered
  (void)mr::run_on_ranks(grouped_without_order{}, ranks, text);
#endif
#ifdef VALUE_THAT_CANNOT_BE_MOVED
  // expect: a job needs a key_type and a value_type, both movable
  (void)mr::run(job_of<int, pinned>{}, text);
#endif
#ifdef DENSE_KEYS_THAT_ARE_TEXT
  // expect: a job with dense_keys needs combine\(\), an integral key_type
  (void)mr::run(dense_text{}, text);
#endif
#ifdef TABLE_THAT_IS_NONE
  // expect: table_type of a job must be a table
  (void)mr::run(own_table{}, text);
#endif
#ifdef INPUT_THAT_IS_NONE
  // expect: no matching function for call to .run\(
  // because: .*input
  int none = 0;
  (void)mr::run(correct{}, none);
#endif
#ifdef JOB_THAT_MAPS_ONE_OF_TWO_INPUTS
  // expect: a job over several inputs needs map\(const tagged_split<Tag, Split>&, emit\) const for
  // each
  mr::several_inputs two(mr::tagged<left>(text), mr::tagged<right>(text));
  (void)mr::run(maps_one_input{}, two);
#endif
#ifdef SEVERAL_INPUTS_WITHOUT_TAGS
  // expect: several_inputs takes inputs with tags: several_inputs\(tagged<Tag>\(input\), ...\)
  mr::several_inputs two(text, text);
#endif
#ifdef INPUTS_OF_THE_SAME_TAG
  // expect: several_inputs needs a different tag for each input
  mr::several_inputs two(mr::tagged<left>(text), mr::tagged<left>(text));
#endif
#ifdef TAG_OF_NO_INPUT
  // expect: tagged<Tag>\(input\) needs an input, with splits\(\), bytes\(\) and visit\(i, f\)
  int none = 0;
  (void)mr::tagged<left>(none);
#endif
#ifdef VALUES_OF_THE_SAME_TYPE
  // expect: one_of needs types that differ: put equal ones into structs of their own
  const mr::one_of<int, long, int> value;
#endif
#ifdef VALUES_OF_NO_SUCH_TYPE
  // expect: values_of<T>\(all\) needs a job whose value_type is one_of<...> with T among them
  (void)mr::run(reduces_values_of<int, joins<>>{}, text);
#endif
#ifdef VALUES_OF_A_JOB_WITH_ONE_TYPE
  // expect: values_of<T>\(all\) needs a job whose value_type is one_of<...> with T among them
  (void)mr::run(reduces_values_of<int, correct>{}, text);
#endif
#ifdef SPILLED_VALUE_THAT_MAY_BE_A_VIEW
  // expect: values that are views lose what they point into: let them be strings
  mr::several_inputs two(mr::tagged<left>(text), mr::tagged<right>(text));
  (void)mr::run(joins_views{}, two, {}, limit);
#endif
#ifdef ROUNDS_OF_A_JOB_THAT_MAPS
  // expect: template constraint failure for .*fills<Job>.*rounds
  mr::rounds<correct, mr::text_view> iterate(text);
#endif
#ifdef SPILLED_KEY_WITHOUT_A_FORM
  // expect: keys go to files: give key_type a form, see wire.hpp
  (void)mr::run(job_of<const int*>{}, text, {}, limit);
#endif
#ifdef SPILLED_VALUE_WITHOUT_A_FORM
  // expect: values go to files: give value_type a form, see wire.hpp
  (void)mr::run(job_of<int, std::unique_ptr<int>>{}, text, {}, limit);
#endif
#ifdef SPILLED_VALUE_THAT_IS_A_VIEW
  // expect: values that are views lose what they point into: let them be strings
  (void)mr::run(job_of<int, std::string_view>{}, text, {}, limit);
#endif
#ifdef SPILLED_RECORD_WITHOUT_A_FORM
  // expect: records go to files: give what reduce\(\) returns a form, see wire.hpp
  (void)mr::run_to(reduces_to_a_pointer{}, text, {}, limit, [](const auto&) {});
#endif
#ifdef SINK_OF_OTHER_RECORDS
  // expect: run_to calls sink\(record\) with a const record_of<Job>& for each record
  (void)mr::run_to(correct{}, text, {}, limit, [](std::string_view) {});
#endif
#ifdef SINK_WITHOUT_A_RECORD
  // expect: run_to calls sink\(record\) with a const record_of<Job>& for each record
  (void)mr::run_to(correct{}, text, {}, [] {});
#endif
#ifdef RANKS_THAT_ARE_NONE
  // expect: run_on_ranks needs a communicator
  int none = 2;
  (void)mr::run_on_ranks(correct{}, none, text);
#endif
#ifdef SENT_KEY_WITHOUT_A_FORM
  // expect: keys go from core to core as bytes: give key_type a form, see wire.hpp
  (void)mr::run_on_ranks(job_of<const int*>{}, ranks, text);
#endif
#ifdef SENT_VALUE_THAT_IS_OWNED
  // expect: values go from core to core as bytes: .* what points to memory of one core, as a unique
  (void)mr::run_on_ranks(job_of<int, std::unique_ptr<int>>{}, ranks, text);
#endif
#ifdef SENT_RESULT_WITHOUT_A_FORM
  // expect: results go to rank 0 as bytes: give what reduce\(\) returns a form, see wire.hpp
  (void)mr::run_on_ranks(reduces_to_a_pointer{}, ranks, text);
#endif
#ifdef OBSERVER_OF_NO_STAGE
  // expect: run_on_ranks calls began\(stage\)
  (void)mr::run_on_ranks(correct{}, ranks, text, {}, [] {});
#endif
}
