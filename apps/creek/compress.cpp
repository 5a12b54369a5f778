// SPDX-License-Identifier: Apache-2.0
// `creek compress`: compresses a file to bzip2, its blocks on all workers.
#include <fmt/format.h>
#include <sys/stat.h>

#include <creek/core/error.hpp>
#include <creek/core/io/open_file.hpp>
#include <creek/stream/pipeline.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "command_line/command.hpp"
#include "commands.hpp"
#include "compress/block_reader.hpp"
#include "compress/bzip2_block.hpp"
#include "jobs/byte_text.hpp"
#include "jobs/job_options.hpp"
#include "jobs/job_report.hpp"
#include "output/counted.hpp"
#include "output/progress_bar.hpp"
#include "output/text_output.hpp"
#include "streams/stream_run.hpp"

namespace creek::tool {
namespace {

constexpr int max_level = 9;

struct compress_arguments {
  stream_options run;
  std::string input = "-";
  std::string output = "-";
  int level = max_level;
};

struct compress_report {
  stream_facts run;
  std::uint64_t bytes = 0;
  std::uint64_t compressed = 0;
  std::uint64_t blocks = 0;
  std::size_t max_blocks = 0;
};

constexpr const char* compress_notes =
    R"(Each block becomes a bzip2 stream of its own, as with pbzip2; bunzip2 and others read them as one
file. The bytes written do not depend on the number of workers. '-', or no name, is standard input or
standard output. A file appears under its name once it is whole; one that is there is replaced.
Memory: nine times the size of a block per worker, and at most two blocks per worker and eight more
that wait: 28 MB for 2 workers and blocks of 900 kB, beside the program's own.
Exit codes: 0 success, 1 failed run, 2 bad usage.

  creek compress book.txt -o book.txt.bz2
  tar c src | creek compress -o src.tar.bz2
  tar c src | creek compress | ssh backup 'cat > src.tar.bz2'
  creek compress --report --dot stages.dot book.txt -o book.txt.bz2
  creek compress --backend scc --cores 48 book.txt -o book.txt.bz2)";

bool writes_to_standard_output(const compress_arguments& given) {
  return given.output == "-";
}

void check(const command_line::command& command, const compress_arguments& given) {
  check_stream_options(command, given.run);
  if (writes_to_standard_output(given)) check_standard_output(given.run, "file");
}

/// Returns how many blocks the file has, or 0 if it has no size.
std::size_t blocks_of(const open_file& file, std::size_t block) {
  struct stat about {};
  if (fstat(file.descriptor(), &about) != 0 || !S_ISREG(about.st_mode)) return 0;
  return (static_cast<std::size_t>(about.st_size) + block - 1) / block;
}

/// A block of the input as a stream.
struct compressed_block {
  std::string stream;
  std::size_t bytes;  ///< of the block
  [[nodiscard]] std::size_t transfer_bytes() const noexcept { return sizeof *this + stream.size(); }
};

class compression {
 public:
  compression(const compress_arguments& given, const open_file& from, text_output& to)
      : from_(from), to_(to), block_bytes_(block_bytes(given.level)), compress_(given.level) {}

  /// Compresses all of the file on the workers of the calling strand, so many blocks at once.
  void operator()(std::size_t max_blocks, pipeline_options options, bool is_on_chip) {
    block_reader reader(from_, block_bytes_, in_memory_);
    // On the chip one strand reads many blocks before its core takes up one of them.
    options.capacity = is_on_chip ? max_blocks : 1;
    pipeline(options, reader,
             parallel_stage([this](input_block block) { return compressed(std::move(block)); },
                            max_blocks),
             [this](const compressed_block& block) { write(block); });
    if (done_.splits_done.load() == 0)
      put(compress_({}));  // a file without bytes has a stream, too
  }
  [[nodiscard]] const mapreduce::progress& done() const noexcept { return done_; }
  void add_to(compress_report& report) const {
    report.bytes = done_.bytes_done.load();
    report.blocks = done_.splits_done.load();
    report.compressed = written_;
    report.max_blocks = in_memory_.max();
  }

 private:
  compressed_block compressed(input_block block) { return {compress_(block.text()), block.size}; }
  void write(const compressed_block& block) {
    put(block.stream);
    in_memory_.remove();
    done_.bytes_done.fetch_add(block.bytes, std::memory_order_relaxed);
    done_.splits_done.fetch_add(1, std::memory_order_relaxed);
  }
  void put(const std::string& stream) {
    to_.write(stream);
    to_.flush();
    written_ += stream.size();
  }

  const open_file& from_;
  text_output& to_;
  std::size_t block_bytes_;
  bzip2_compressor compress_;
  block_count in_memory_;
  mapreduce::progress done_;
  std::uint64_t written_ = 0;
};

json_value to_json(const compress_arguments& given, const compress_report& report) {
  json_value all{{"schema_version", 1}, {"command", "compress"}};
  all.update(run_json(report.run));
  const double seconds = std::chrono::duration<double>(report.run.elapsed).count();
  all.update(json_value{
      {"bytes", report.bytes},
      {"compressed_bytes", report.compressed},
      {"blocks", report.blocks},
      {"block_bytes", block_bytes(given.level)},
      {"max_blocks_in_memory", report.max_blocks},
      {"bytes_per_second", seconds > 0 ? static_cast<double>(report.bytes) / seconds : 0}});
  return all;
}

void print_text(const compress_report& report) {
  const double share = report.bytes == 0 ? 100
                                         : 100 * static_cast<double>(report.compressed) /
                                               static_cast<double>(report.bytes);
  fmt::print("{} to {} ({:.1f} %) in {}\n{}\n", bytes_text(report.bytes),
             bytes_text(report.compressed), share, counted(report.blocks, "block"),
             run_text(report.run));
}

void say(const compress_arguments& given, const compress_report& report) {
  if (writes_to_standard_output(given)) return;
  if (given.run.as_json) {
    fmt::print("{}\n", dump(to_json(given, report)));
  } else if (!given.run.quiet) {
    print_text(report);
  }
}

void compress(const command_line::command& command, const compress_arguments& given) {
  check(command, given);
  const open_file from(given.input);
  text_output to(writes_to_standard_output(given) ? "" : given.output);
  compression run(given, from, to);
  std::optional<progress_bar> bar;
  watch(bar, given.run.quiet, run.done(), blocks_of(from, block_bytes(given.level)));
  compress_report report;
  report.run = run_stream(given.run, [&](unsigned workers, const pipeline_options& options) {
    run(items_at_once(given.run, workers), options, is_on_chip(given.run));
  });
  to.done();
  bar.reset();
  run.add_to(report);
  say(given, report);
}

/// Adds -1 to -9 and --block-size.
void add_levels(command_line::command& command, compress_arguments& given) {
  auto* group = command.add_option_group("Size of blocks");
  auto* size = group->add_option("--block-size", given.level,
                                 "Units of 100 kB, from 1 to 9; larger blocks compress better");
  size->range(1, max_level)->show_default();
  for (int level = 1; level <= max_level; ++level) {
    group
        ->add_flag(
            fmt::format("-{}", level), [&given, level] { given.level = level; },
            fmt::format("The same as --block-size {}", level))
        ->excludes(size);
  }
}

}  // namespace

void add_compress(command_line::command& app, int&) {
  auto given = std::make_shared<compress_arguments>();
  auto* command = app.add_subcommand("compress", "Compress a file to bzip2");
  command->footer(compress_notes);
  command->add_option("file", given->input, "File to compress")->option_text("[FILE]");
  command->add_option("-o,--output", given->output, "Write to FILE")->type_name("FILE");
  add_levels(*command, *given);
  add_stream_options(*command, given->run, "Print no progress bar and no report");
  command->callback([given, command] { compress(*command, *given); });
}

}  // namespace creek::tool
