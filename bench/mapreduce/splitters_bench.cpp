// SPDX-License-Identifier: Apache-2.0
// Functions that find words, matches, fields and values in text, on one thread, each beside the
// least that could do the same: words of white space, a loop over RE2, a loop over bytes, simdjson.
// They alternate; the table has medians. Fails if two that must agree find different numbers.
#include <fmt/format.h>
#include <re2/re2.h>
#include <simdjson.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <creek/core/error.hpp>
#include <creek/mapreduce.hpp>
#include <creek/text.hpp>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "../../support/median.hpp"
#include "../../support/zipf_text.hpp"

namespace {

using namespace creek::mapreduce;
using namespace creek::text;

struct contender {
  std::string name;
  std::function<std::size_t()> go;  // returns the bytes of what it found
  std::vector<double> seconds{};
};

/// Prints a table; the first contender is the reference. `agree`: all find the same.
void hold(const std::string& name, std::size_t bytes, bool agree, int rounds,
          std::vector<contender> all) {
  fmt::print("{:<44} {:>8} {:>13}\n", name, "MB/s", "of reference");
  for (int round = -1; round < rounds; ++round) {
    std::size_t reference = 0;
    for (contender& one : all) {
      const auto start = std::chrono::steady_clock::now();
      const std::size_t found = one.go();
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      if (reference == 0) reference = found;
      if (agree && found != reference) {
        throw creek::error(
            EILSEQ, fmt::format("{}: {} finds {} bytes, not {}", name, one.name, found, reference));
      }
      if (round >= 0) one.seconds.push_back(spent.count());
    }
  }
  const double reference = bench::median(all.front().seconds);
  for (const contender& one : all) {
    const double middle = bench::median(one.seconds);
    fmt::print("  {:<42} {:>8.0f} {:>12.2f}\n", one.name, static_cast<double>(bytes) / 1e6 / middle,
               reference / middle);
  }
}

/// Returns lines of words with a capital in every eighth word and, if `accents`, a letter above
/// ASCII in every fourth.
std::string prose(std::size_t bytes, bool accents) {
  std::mt19937_64 random(1);
  std::string text = creek_bench::zipf_text(bytes, 100'000);
  std::string made;
  bool begin = true;
  for (const char c : text) {
    if (begin && random() % 8 == 0 && c >= 'a' && c <= 'z') {
      made += static_cast<char>(c - 'a' + 'A');
    } else if (begin && accents && random() % 4 == 0) {
      made += random() % 2 == 0 ? "\u00E9" : "\u0436";
    } else {
      made += c;
    }
    begin = c == ' ' || c == '\n';
  }
  return made;
}

template <class Find>
std::size_t size_of_words(Find&& find) {
  std::size_t size = 0;
  find([&](std::string_view word) { size += word.size(); });
  return size;
}

void words(const std::string& name, const std::string& text, int rounds) {
  const auto by = [&](word_options chosen) {
    return [&text, chosen] {
      return size_of_words([&](auto f) { for_each_unicode_word(text, f, chosen); });
    };
  };
  hold(name, text.size(), false, rounds,
       {{"for_each_word", [&] { return size_of_words([&](auto f) { for_each_word(text, f); }); }},
        {"for_each_unicode_word", by({})},
        {"  folded", by({.fold_case = true})},
        {"  folded, NFC", by({.fold_case = true, .normalize = normal_form::nfc})},
        {"  folded, NFKC", by({.fold_case = true, .normalize = normal_form::nfkc})}});
}

void matches(const std::string& text, const std::string& expression, int rounds) {
  const RE2 plain("(?m)(" + expression + ")");
  const pattern wanted(expression);
  hold("matches of " + expression, text.size(), true, rounds,
       {{"loop over RE2::FindAndConsume",
         [&] {
           std::size_t size = 0;
           re2::StringPiece rest(text), found;
           while (RE2::FindAndConsume(&rest, plain, &found)) size += found.size();
           return size;
         }},
        {"for_each_match",
         [&] { return size_of_words([&](auto f) { for_each_match(text, wanted, f); }); }}});
}

/// Counts the bytes of fields by the states of a reader of one byte after another.
std::size_t fields_by_loop(std::string_view text) {
  std::size_t size = 0;
  std::string field;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',' || c == '\n') {
      size += field.size();
      field.clear();
    } else {
      field += c;
    }
  }
  return size;
}

void fields(std::size_t bytes, int rounds) {
  std::mt19937_64 random(1);
  std::string text;
  while (text.size() < bytes) {
    text += std::to_string(random() % 1'000'000) + ",name of a thing,\"Street 5, Town\",";
    text += random() % 8 == 0 ? "\"two\nlines of \"\"text\"\"\"" : "text";
    text += "," + std::to_string(random() % 1000) + ".5\n";
  }
  hold("fields of CSV", text.size(), true, rounds,
       {{"loop over bytes", [&] { return fields_by_loop(text); }},
        {"for_each_csv_record", [&] {
           std::size_t size = 0;
           for_each_csv_record({text}, [&](const csv_record& record) {
             for (const std::string_view field : record) size += field.size();
           });
           return size;
         }}});
}

void json_values(std::size_t bytes, int rounds) {
  std::mt19937_64 random(1);
  std::string text;
  while (text.size() < bytes) {
    text += fmt::format(
        R"({{"id": {}, "user": {{"name": "name {}", "tags": ["a", "b"]}}, "price": {}.25}})"
        "\n",
        random() % 1'000'000, random() % 1000, random() % 100);
  }
  const simdjson::padded_string padded(text);
  hold("JSON lines", text.size(), true, rounds,
       {{"simdjson's parse_many",
         [&] {
           simdjson::dom::parser parser;
           simdjson::dom::document_stream lines;
           if (parser.parse_many(padded).get(lines) != simdjson::SUCCESS) return std::size_t{0};
           std::size_t size = 0;
           for (auto line : lines) size += std::string_view(line["user"]["name"]).size();
           return size;
         }},
        {"for_each_json_line", [&] {
           std::size_t size = 0;
           for_each_json_line({text}, [&](const json_value& line) {
             size += line["user"]["name"].string().size();
           });
           return size;
         }}});
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t megabytes = 64;
  int rounds = 9;
  CLI::App app("Words, matches, fields and values in text, on one thread");
  app.add_option("--megabytes", megabytes, "Size of each text")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 12));
  app.add_option("--rounds", rounds, "Repetitions")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.footer("Example:\n  bench_splitters --megabytes 16 --rounds 5");
  CLI11_PARSE(app, argc, argv);
  try {
    const std::size_t bytes = megabytes * 1'000'000;
    const std::string ascii = prose(bytes, false);
    words("words of ASCII", ascii, rounds);
    words("words, one in four with a letter above ASCII", prose(bytes, true), rounds);
    matches(ascii, "[a-z]+ing", rounds);
    matches(ascii, "xyz[0-9]+", rounds);
    fields(bytes, rounds);
    json_values(bytes, rounds);
  } catch (const std::exception& problem) {
    std::fputs(fmt::format("bench_splitters: {}\n", problem.what()).c_str(), stderr);
    return 1;
  }
  return 0;
}
