// SPDX-License-Identifier: Apache-2.0
// `creek mjpeg`: decodes Motion JPEG, frames on all workers.
#include <fmt/format.h>

#include <chrono>
#include <creek/core/error.hpp>
#include <creek/core/io/atomic_file.hpp>
#include <creek/core/io/open_file.hpp>
#include <creek/stream/descriptors.hpp>
#include <creek/stream/pipeline.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "command_line/command.hpp"
#include "command_line/process.hpp"
#include "commands.hpp"
#include "jobs/byte_text.hpp"
#include "jobs/job_options.hpp"
#include "jobs/job_report.hpp"
#include "mjpeg/container/frame_splitter.hpp"
#include "mjpeg/decoding/decoder.hpp"
#include "mjpeg/frame_work.hpp"
#include "output/counted.hpp"
#include "output/progress_bar.hpp"
#include "output/text_output.hpp"
#include "streams/stream_run.hpp"

namespace creek::tool {
namespace {

using mjpeg::decoded_frame;
using mjpeg::raw_frame;

enum class decoder : std::uint8_t { library, own };

struct mjpeg_arguments {
  stream_options run;
  std::string input;
  std::string folder;
  std::optional<decoder> by;
  bool checksums = false;
  bool refuse_damaged = false;
  std::uint64_t max_pixels = 1 << 26;
};

constexpr const char* mjpeg_notes =
    R"(FILE is an AVI file whose video is Motion JPEG, or JPEG images that follow each other; '-' is
standard input. Frames must be baseline JPEG, grey or of three components. A line is the frame's
number from 0, its width and height, and the CRC-32 of its bytes red, green, blue. Pixels are those
of libjpeg with its slow integer transform, with and without the library and on the simulated chip.
Damaged frames are named on standard error and left out. Exit codes: 0 success, 1 failed run, among
which no frame could be decoded, 2 bad usage.

  creek mjpeg holiday.avi --checksums
  creek mjpeg holiday.avi --output-dir frames --refuse-damaged
  cat *.jpg | creek mjpeg - --checksums --json
  creek mjpeg holiday.avi --checksums --backend scc --cores 48)";

std::string shown_name(const mjpeg_arguments& given) {
  return given.input == "-" ? "standard input" : given.input;
}

bool uses_library(const mjpeg_arguments& given) {
  if (is_on_chip(given.run)) return false;
  return given.by.value_or(mjpeg::has_library() ? decoder::library : decoder::own) ==
         decoder::library;
}

void check(const command_line::command& command, const mjpeg_arguments& given) {
  check_stream_options(command, given.run);
  if (!given.checksums && given.folder.empty())
    throw usage_error("mjpeg: needs --checksums or --output-dir");
  if (given.by != decoder::library) return;
  if (is_on_chip(given.run))
    throw usage_error("--decoder: the simulated chip has creek's own decoder only");
  if (!mjpeg::has_library())
    throw usage_error("--decoder: this build has no libjpeg-turbo (libjpeg62-turbo-dev)");
}

/// The source: the frames of a file.
class frame_source {
 public:
  using item_type = raw_frame;

  frame_source(const open_file& file, const mjpeg_arguments& given) : file_(file), given_(given) {}

  void operator()(stream::out<raw_frame>& to) {
    try {
      const auto frames = mjpeg::split_frames(
          [&](char* at, std::size_t bytes) {
            return stream::read_some(file_, std::span(at, bytes), to);
          },
          max_frame_bytes());
      while (std::optional<raw_frame> frame = frames->next()) to.write(*std::move(frame));
    } catch (const mjpeg::no_video& why) {
      throw mjpeg::no_video(fmt::format("{}: {}", shown_name(given_), why.what()));
    }
  }

 private:
  /// Entropy-coded data of more than 4 bytes a pixel have nothing to gain.
  [[nodiscard]] std::size_t max_frame_bytes() const { return 4 * given_.max_pixels + (1 << 20); }

  const open_file& file_;
  const mjpeg_arguments& given_;
};

/// The sink: prints frames and writes their files.
class frame_output {
 public:
  explicit frame_output(const mjpeg_arguments& given) : given_(given) {
    if (given.folder.empty()) return;
    std::error_code failed;
    std::filesystem::create_directories(given.folder, failed);
    if (failed) throw error(failed, given.folder);
  }

  void write(const decoded_frame& frame) {
    done_.splits_done.fetch_add(1, std::memory_order_relaxed);
    if (!frame.fault.empty()) return leave_out(frame);
    ++decoded_;
    if (!given_.folder.empty()) write_file(frame);
    if (!given_.checksums) return;
    if (given_.run.as_json) {
      frames_.push_back(json_value{{"number", frame.number},
                                   {"width", frame.width},
                                   {"height", frame.height},
                                   {"crc32", fmt::format("{:08x}", frame.checksum)}});
    } else {
      lines_.write(fmt::format("{} {} {} {:08x}\n", frame.number, frame.width, frame.height,
                               frame.checksum));
      lines_.flush();
    }
  }

  [[nodiscard]] const mapreduce::progress& done() const noexcept { return done_; }
  [[nodiscard]] std::uint64_t decoded() const noexcept { return decoded_; }
  [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_; }
  [[nodiscard]] json_value members() {
    json_value all{{"decoded", decoded_}, {"skipped", skipped_}, {"damaged", std::move(damaged_)}};
    if (given_.checksums) all["frames"] = std::move(frames_);
    return all;
  }

 private:
  void leave_out(const decoded_frame& frame) {
    const std::string text =
        fmt::format("{}: frame {}: {}", shown_name(given_), frame.number, frame.fault);
    if (given_.refuse_damaged) throw std::runtime_error(text);
    ++skipped_;
    command_line::print_error("creek: skipped " + text);
    if (given_.run.as_json)
      damaged_.push_back(json_value{{"number", frame.number}, {"reason", frame.fault}});
  }
  void write_file(const decoded_frame& frame) const {
    const std::filesystem::path name = fmt::format("frame-{:06}.ppm", frame.number);
    atomic_file file(given_.folder / name, atomic_file::targets::regular);
    file.write(frame.picture);
    file.commit();
  }

  const mjpeg_arguments& given_;
  text_output lines_{""};
  mapreduce::progress done_;
  std::uint64_t decoded_ = 0, skipped_ = 0;
  json_value frames_ = json_value::array(), damaged_ = json_value::array();
};

void decode_all(const mjpeg_arguments& given, unsigned workers, pipeline_options options,
                const open_file& file, frame_output& out) {
  frame_source frames(file, given);
  const mjpeg::decoding_options how{.use_library = uses_library(given),
                                    .make_picture = !given.folder.empty(),
                                    .max_pixels = given.max_pixels};
  const std::size_t max_frames = items_at_once(given.run, workers);
  // On the chip one strand reads many frames before its core takes up one of them.
  options.capacity = is_on_chip(given.run) ? max_frames : 1;
  pipeline(options, frames,
           parallel_stage([how](const raw_frame& frame) { return mjpeg::decode(frame, how); },
                          max_frames),
           [&](const decoded_frame& frame) { out.write(frame); });
}

void say(const mjpeg_arguments& given, const stream_facts& run, frame_output& out) {
  if (given.run.as_json) {
    json_value all{{"schema_version", 1}, {"command", "mjpeg"}};
    all.update(run_json(run));
    all["decoder"] = uses_library(given) && mjpeg::has_library() ? "library" : "own";
    const double seconds = std::chrono::duration<double>(run.elapsed).count();
    all["frames_per_second"] = seconds > 0 ? static_cast<double>(out.decoded()) / seconds : 0;
    all.update(out.members());
    fmt::print("{}\n", dump(all));
  } else if (!given.run.quiet) {
    fmt::print(stderr, "{} decoded, {} skipped\n{}\n", counted(out.decoded(), "frame"),
               out.skipped(), run_text(run));
  }
}

void decode_file(const command_line::command& command, const mjpeg_arguments& given) {
  check(command, given);
  const open_file file(given.input);
  frame_output out(given);
  std::optional<progress_bar> bar;
  watch(bar, given.run.quiet, out.done(), 0);
  const stream_facts run =
      run_stream(given.run, [&](unsigned workers, const pipeline_options& options) {
        decode_all(given, workers, options, file, out);
      });
  bar.reset();
  if (out.decoded() == 0) {
    throw mjpeg::no_video(
        fmt::format("{}: {}", shown_name(given),
                    out.skipped() == 0 ? "has no frames" : "no frame could be decoded"));
  }
  say(given, run, out);
}

}  // namespace

void add_mjpeg(command_line::command& app, int&) {
  auto given = std::make_shared<mjpeg_arguments>();
  auto* command = app.add_subcommand("mjpeg", "Decode Motion JPEG");
  command->footer(mjpeg_notes);
  command->add_option("file", given->input, "Video to decode")->option_text("FILE")->required();
  command->add_flag("--checksums", given->checksums,
                    "Print a line per frame: number, width, height, CRC-32");
  command->add_option("--output-dir", given->folder, "Write frames as DIR/frame-NUMBER.ppm")
      ->type_name("DIR");
  command->add_flag("--refuse-damaged", given->refuse_damaged,
                    "Fail at the first damaged frame instead of leaving it out");
  command
      ->add_option("--max-pixels", given->max_pixels,
                   "Pixels that a frame may have; one with more counts as damaged")
      ->range(1, 1 << 30)
      ->show_default();
  command->add_choice<decoder>("--decoder", given->by,
                               {{"library", decoder::library}, {"own", decoder::own}},
                               "Decode by libjpeg-turbo (the default) or by creek's own decoder");
  add_stream_options(*command, given->run, "Print no progress and no report");
  command->callback([given, command] { decode_file(*command, *given); });
}

}  // namespace creek::tool
