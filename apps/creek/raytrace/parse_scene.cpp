// SPDX-License-Identifier: Apache-2.0
// Reads the text of a scene: a statement per line.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <creek/core/io/data_fault.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "scene.hpp"

namespace creek::tool {
namespace {

class scene_parser {
 public:
  explicit scene_parser(std::string_view name) : name_(name) {}

  scene parse(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      split(text.substr(0, end));
      if (!words_.empty()) statement();
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return std::move(made_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    fail(data_fault::malformed, fmt::format("{}: line {}: {}", name_, line_, why));
  }

  /// Takes the line apart, up to a '#'.
  void split(std::string_view line) {
    line = line.substr(0, std::min(line.find('#'), line.size()));
    words_.clear();
    constexpr const char* blanks = " \t\r";
    for (std::size_t at = line.find_first_not_of(blanks); at != std::string_view::npos;) {
      const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
      words_.push_back(line.substr(at, end - at));
      at = line.find_first_not_of(blanks, end);
    }
    next_ = 1;
  }

  void statement() {
    struct rule {
      std::size_t words;
      void (scene_parser::*read)();
      const char* form;
    };
    static const std::map<std::string_view, rule> rules{
        {"size", {2, &scene_parser::read_size, "WIDTH HEIGHT"}},
        {"samples", {1, &scene_parser::read_samples, "N"}},
        {"depth", {1, &scene_parser::read_depth, "N"}},
        {"background", {3, &scene_parser::read_background, "R G B"}},
        {"ambient", {3, &scene_parser::read_ambient, "R G B"}},
        {"camera", {7, &scene_parser::read_camera, "X Y Z  TARGET_X TARGET_Y TARGET_Z  DEGREES"}},
        {"light", {6, &scene_parser::read_light, "X Y Z  R G B"}},
        {"material",
         {7, &scene_parser::read_material, "NAME  R G B  SPECULAR SHININESS REFLECTION"}},
        {"sphere", {5, &scene_parser::read_sphere, "MATERIAL  X Y Z  RADIUS"}},
        {"triangle", {10, &scene_parser::read_triangle, "MATERIAL  X Y Z  X Y Z  X Y Z"}}};
    const auto known = rules.find(words_.front());
    if (known == rules.end()) refuse(fmt::format("unknown statement '{}'", shown(words_.front())));
    const auto& [name, how] = *known;
    if (words_.size() != how.words + 1) {
      refuse(fmt::format("'{}' takes {}, {} words, got {}", name, how.form, how.words,
                         words_.size() - 1));
    }
    (this->*how.read)();
  }

  double number(double min, double max) {
    const std::string_view word = words_[next_++];
    double value = 0;
    const auto [end, why] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (why != std::errc{} || end != word.data() + word.size() || !std::isfinite(value))
      refuse(fmt::format("'{}' is not a number", shown(word)));
    if (value < min || value > max)
      refuse(fmt::format("{} must be between {} and {}", shown(word), min, max));
    return value;
  }
  int whole(int min, int max) {
    const std::string_view word = words_[next_];
    const double value = number(min, max);
    if (value != std::floor(value)) refuse(fmt::format("{} is not a whole number", shown(word)));
    return static_cast<int>(value);
  }
  vector3 vector(double min, double max) {
    const double x = number(min, max), y = number(min, max), z = number(min, max);
    return {x, y, z};
  }
  vector3 point() { return vector(-1e6, 1e6); }
  vector3 colour() { return vector(0, 1e6); }
  std::uint32_t known_material() {
    const std::string name(words_[next_++]);
    const auto found = materials_.find(name);
    if (found == materials_.end())
      refuse(fmt::format("material '{}' is not known yet", shown(name)));
    return found->second;
  }

  void read_size() {
    made_.width = whole(1, scene::max_size);
    made_.height = whole(1, scene::max_size);
  }
  void read_samples() { made_.samples = whole(1, scene::max_samples); }
  void read_depth() { made_.depth = whole(0, scene::max_depth); }
  void read_background() { made_.background = colour(); }
  void read_ambient() { made_.ambient = colour(); }
  void read_camera() {
    camera& view = made_.view;
    view.position = point();
    view.target = point();
    view.degrees = number(1, 179);
    const vector3 along = view.target - view.position;
    // Directions are computed from the squares of these.
    constexpr double min_distance = 1e-100, min_sideways = 1e-9;
    const double distance = std::hypot(along.x, along.y, along.z);
    if (distance <= min_distance || std::hypot(along.x, along.z) <= min_sideways * distance)
      refuse("the camera must not look straight up or down, or at itself");
  }
  void read_light() {
    const vector3 position = point();
    made_.lights.push_back({position, colour()});
  }
  void read_material() {
    const std::string name(words_[next_++]);
    if (!materials_.emplace(name, static_cast<std::uint32_t>(made_.materials.size())).second)
      refuse(fmt::format("material '{}' is there twice", shown(name)));
    material one;
    one.colour = colour();
    one.specular = number(0, 1e6);
    one.shininess = number(1, 1e6);
    one.reflection = number(0, 1);
    made_.materials.push_back(one);
  }
  void read_sphere() {
    sphere one;
    one.material = known_material();
    one.centre = point();
    one.radius = number(1e-6, 1e6);
    made_.spheres.push_back(one);
  }
  void read_triangle() {
    triangle one;
    one.material = known_material();
    one.corner = point();
    one.edge1 = point() - one.corner;
    one.edge2 = point() - one.corner;
    if (length(cross(one.edge1, one.edge2)) == 0) refuse("the triangle has no area");
    made_.triangles.push_back(one);
  }

  std::string_view name_;
  std::size_t line_ = 0;
  std::vector<std::string_view> words_;
  std::size_t next_ = 1;
  std::map<std::string, std::uint32_t> materials_;
  scene made_;
};

}  // namespace

scene parse_scene(std::string_view text, std::string_view name) {
  return scene_parser(name).parse(text);
}

}  // namespace creek::tool
