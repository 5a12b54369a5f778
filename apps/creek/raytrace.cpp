// SPDX-License-Identifier: Apache-2.0
// `creek raytrace`: draws a scene of spheres and triangles, bands of rows on all workers.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
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
#include "jobs/byte_text.hpp"
#include "jobs/job_options.hpp"
#include "output/counted.hpp"
#include "output/progress_bar.hpp"
#include "output/text_output.hpp"
#include "raytrace/picture_format.hpp"
#include "raytrace/renderer.hpp"
#include "raytrace/scene.hpp"
#include "streams/stream_run.hpp"

namespace creek::tool {
namespace {

enum class format : std::uint8_t { ppm, png };

struct raytrace_arguments {
  stream_options run;
  std::string scene;
  std::string output = "-";
  std::optional<format> as;
  std::optional<unsigned> width, height, samples;
  bool print_demo = false;
};

constexpr const char* raytrace_notes =
    R"(SCENE is a text file with a statement per line; '-' is standard input. Without it a scene of
creek's own is drawn, which --print-demo prints, to be changed. The picture does not depend on the
number of workers. It is written to standard output as PPM if no file is named. docs/raytrace.md has
the form of scenes. Exit codes: 0 success, 1 failed run, 2 bad usage.

  creek raytrace -o demo.png
  creek raytrace --print-demo > mine.txt
  creek raytrace mine.txt --width 1920 --height 1080 --samples 4 -o mine.png
  creek raytrace --backend scc --cores 48 -o demo.ppm)";

/// Rows that are rendered together: few enough for 48 cores to share a small picture.
constexpr int rows_per_band = 2;

bool writes_to_standard_output(const raytrace_arguments& given) {
  return given.output == "-";
}

format format_of(const raytrace_arguments& given) {
  if (given.as) return *given.as;
  if (writes_to_standard_output(given) || given.output.ends_with(".ppm")) return format::ppm;
  if (given.output.ends_with(".png")) return format::png;
  throw usage_error(
      fmt::format("--output must end in .png or .ppm without --format, got {}", given.output));
}

void check(const command_line::command& command, const raytrace_arguments& given) {
  check_stream_options(command, given.run);
  if (writes_to_standard_output(given)) check_standard_output(given.run, "picture");
}

std::string text_of(const std::string& name) {
  const open_file file(name);
  std::string text;
  for (;;) {
    constexpr std::size_t piece = 64 << 10;
    const std::size_t before = text.size();
    text.resize(before + piece);
    const std::size_t read = file.read(text.data() + before, piece);
    text.resize(before + read);
    if (read == 0) return text;
  }
}

scene scene_of(const raytrace_arguments& given) {
  const std::string& name = given.scene;
  scene made = name.empty() ? parse_scene(demo_scene(), "the demo")
                            : parse_scene(text_of(name), name == "-" ? "standard input" : name);
  const auto replace = [](int& value, const std::optional<unsigned>& by) {
    if (by) value = static_cast<int>(*by);
  };
  replace(made.width, given.width);
  replace(made.height, given.height);
  replace(made.samples, given.samples);
  return made;
}

struct raytrace_report {
  stream_facts run;
  std::uint64_t rays = 0;
};

/// Renders the rows of a picture and writes it.
class drawing {
 public:
  drawing(const scene& what, const picture_format& as, text_output& to)
      : scene_(what), format_(as), to_(to) {}

  /// Draws on the workers of the calling strand, so many bands at once.
  void operator()(std::size_t max_bands, pipeline_options options) {
    const renderer light(scene_);
    to_.write(format_.head());
    options.capacity = max_bands;
    pipeline(
        options, [this] { return next_band(); },
        parallel_stage([&](int row) { return rendered(light, row); }, max_bands),
        [this](const band& each) { write(each); });
    to_.write(format_.tail(sum_));
    to_.flush();
  }
  [[nodiscard]] const mapreduce::progress& done() const noexcept { return done_; }
  [[nodiscard]] std::uint64_t rays() const noexcept { return rays_; }

 private:
  struct band {
    encoded_rows rows;
    std::uint64_t rays;
    [[nodiscard]] std::size_t transfer_bytes() const noexcept {
      return sizeof *this + rows.bytes.size();
    }
  };

  std::optional<int> next_band() {
    if (next_row_ >= scene_.height) return std::nullopt;
    return std::exchange(next_row_, next_row_ + rows_per_band);
  }
  [[nodiscard]] band rendered(const renderer& light, int row) const {
    const picture_rows rows = light.render(row, std::min(rows_per_band, scene_.height - row));
    return {format_.encode(rows.pixels), rows.rays};
  }
  void write(const band& each) {
    to_.write(each.rows.bytes);
    picture_format::add(sum_, each.rows);
    rays_ += each.rays;
    done_.bytes_done.fetch_add(each.rows.size, std::memory_order_relaxed);
    done_.splits_done.fetch_add(1, std::memory_order_relaxed);
  }

  const scene& scene_;
  const picture_format& format_;
  text_output& to_;
  mapreduce::progress done_;
  int next_row_ = 0;
  encoded_rows sum_;
  std::uint64_t rays_ = 0;
};

json_value to_json(const scene& what, const raytrace_report& report) {
  json_value all{{"schema_version", 1}, {"command", "raytrace"}};
  all.update(run_json(report.run));
  const double seconds = std::chrono::duration<double>(report.run.elapsed).count();
  all.update(json_value{
      {"width", what.width},
      {"height", what.height},
      {"samples", what.samples},
      {"spheres", what.spheres.size()},
      {"triangles", what.triangles.size()},
      {"lights", what.lights.size()},
      {"rays", report.rays},
      {"rays_per_second", seconds > 0 ? static_cast<double>(report.rays) / seconds : 0}});
  return all;
}

void say(const raytrace_arguments& given, const scene& what, const raytrace_report& report) {
  if (writes_to_standard_output(given)) return;
  if (given.run.as_json) {
    fmt::print("{}\n", dump(to_json(what, report)));
  } else if (!given.run.quiet) {
    fmt::print("{} x {} pixels, {}, {}: {} rays\n{}\n", what.width, what.height,
               counted(what.spheres.size(), "sphere"), counted(what.triangles.size(), "triangle"),
               report.rays, run_text(report.run));
  }
}

void raytrace(const command_line::command& command, const raytrace_arguments& given) {
  if (given.print_demo) {
    fmt::print("{}", demo_scene());
    return;
  }
  check(command, given);
  const format as = format_of(given);
  const scene what = scene_of(given);
  text_output out(writes_to_standard_output(given) ? "" : given.output);
  const auto encoder = as == format::png ? picture_format::png(what.width, what.height)
                                         : picture_format::ppm(what.width, what.height);
  drawing picture(what, *encoder, out);
  std::optional<progress_bar> bar;
  watch(bar, given.run.quiet, picture.done(),
        static_cast<std::size_t>((what.height + rows_per_band - 1) / rows_per_band));
  const stream_facts run =
      run_stream(given.run, [&](unsigned workers, const pipeline_options& options) {
        picture(items_at_once(given.run, workers), options);
      });
  out.done();
  bar.reset();
  say(given, what, {run, picture.rays()});
}

}  // namespace

void add_raytrace(command_line::command& app, int&) {
  auto given = std::make_shared<raytrace_arguments>();
  auto* command = app.add_subcommand("raytrace", "Draw a scene of spheres and triangles");
  command->footer(raytrace_notes);
  command->add_option("scene", given->scene, "Scene to draw")->option_text("[SCENE]");
  command->add_option("-o,--output", given->output, "Write to FILE")->type_name("FILE");
  command->add_choice<format>("--format", given->as, {{"ppm", format::ppm}, {"png", format::png}},
                              "Format of the picture (default: by the name of the file)");
  command->add_option("--width", given->width, "Pixels per row, instead of the scene's")
      ->range(1, scene::max_size);
  command->add_option("--height", given->height, "Rows, instead of the scene's")
      ->range(1, scene::max_size);
  command
      ->add_option("--samples", given->samples,
                   "Rays per side of a pixel, instead of the scene's: 2 are four rays")
      ->range(1, scene::max_samples);
  command->add_flag("--print-demo", given->print_demo,
                    "Print the scene that is drawn without SCENE");
  add_stream_options(*command, given->run, "Print no progress bar and no report");
  command->callback([given, command] { raytrace(*command, *given); });
}

}  // namespace creek::tool
