// SPDX-License-Identifier: Apache-2.0
// A session as Chrome's JSON trace format ("Trace Event Format", JSON Object Format), which
// Perfetto reads as well: one process, one thread per track, time in microseconds with decimals:
// nanoseconds of host time, femtoseconds of a backend's own clock.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include <creek/core/io/atomic_file.hpp>
#include <creek/core/measuring/trace.hpp>

#include "json_text.hpp"

namespace creek::trace {

using detail::json_string;

namespace {

// Turns the time stamps of a session into text: whole units from its start, nanoseconds of host
// time or femtoseconds of a backend's own clock, written as microseconds.
class timeline {
 public:
  timeline(time_base base, ticks start) : start_(start) {
    if (base == time_base::host) {
      ns_per_tick_ = tick_clock::scale().ns_per_tick;
    } else {
      per_microsecond_ = 1'000'000'000;
      decimals_ = 9;
    }
  }

  [[nodiscard]] std::uint64_t units(ticks at) const noexcept {
    if (at < start_) return 0;
    const std::uint64_t passed = (at - start_).count;
    if (ns_per_tick_ == 1.0) return passed;
    return static_cast<std::uint64_t>(static_cast<double>(passed) * ns_per_tick_);
  }
  void format(std::string& line, std::uint64_t units) const {
    line += fmt::format("{}.{:0{}}", units / per_microsecond_, units % per_microsecond_, decimals_);
  }

 private:
  ticks start_;
  double ns_per_tick_ = 1.0;
  std::uint64_t per_microsecond_ = 1000;
  int decimals_ = 3;
};

// Writes one track's events, keeping begin and end in pairs.
class track_writer {
 public:
  track_writer(atomic_file& out, const timeline& time, std::uint32_t id)
      : out_(out), time_(time), id_(id) {}

  void write(const event& e) {
    if (e.on != 0) return write_for_other(e);
    // Threads that hand a track over may read clocks that disagree by a few ticks.
    last_ = std::max(last_, time_.units(e.at));
    switch (e.kind) {
      case event_kind::begin:
        ++open_;
        head("B", e.text);
        break;
      case event_kind::end:
        if (open_ == 0) return;
        --open_;
        head("E", nullptr);
        break;
      case event_kind::instant:
        head("i", e.text);
        line_ += R"(,"s":"t")";
        break;
      case event_kind::counter:
        head("C", e.text);
        break;
      case event_kind::flow_start:
        return flow("s", e, "");
      case event_kind::flow_end:
        return flow("f", e, R"(,"bp":"e")");
    }
    if (e.argument != no_argument) {
      line_ += fmt::format(R"(,"args":{{"value":{}}})", e.argument);
    }
    finish();
  }

  void close_open_slices() {
    for (; open_ > 0; --open_) {
      head("E", nullptr);
      finish();
    }
  }

 private:
  void head(std::string_view phase, const char* text) { head(phase, text, id_, last_); }
  void head(std::string_view phase, const char* text, std::uint32_t track, std::uint64_t at) {
    line_ = ",\n{";
    if (text != nullptr) line_ += fmt::format(R"("name":{},)", cached(text));
    line_ += fmt::format(R"("ph":"{}","pid":1,"tid":{},"ts":)", phase, track);
    time_.format(line_, at);
  }

  // Only arrows begin on other tracks, and at any time.
  void write_for_other(const event& e) {
    head("s", e.text, e.on, time_.units(e.at));
    line_ += fmt::format(R"(,"cat":"flow","id":{})", e.argument);
    finish();
  }
  void flow(std::string_view phase, const event& e, std::string_view binding) {
    head(phase, e.text);
    line_ += fmt::format(R"(,"cat":"flow","id":{}{})", e.argument, binding);
    finish();
  }

  void finish() {
    line_ += '}';
    out_.write(line_);
  }

  // Names are few and their pointers stable: quote each once per run.
  const std::string& cached(const char* text) {
    if (text != quoted_for_) {
      quoted_ = json_string(text);
      quoted_for_ = text;
    }
    return quoted_;
  }

  atomic_file& out_;
  const timeline& time_;
  std::uint32_t id_;
  std::size_t open_ = 0;
  std::uint64_t last_ = 0;
  std::string line_;
  std::string quoted_;
  const char* quoted_for_ = nullptr;
};

std::string metadata(std::string_view what, std::size_t thread, std::string_view arguments) {
  return fmt::format(R"({{"name":"{}","ph":"M","pid":1,"tid":{},"args":{{{}}}}})", what, thread,
                     arguments);
}

}  // namespace

void session::write_to(atomic_file& out) const {
  const std::lock_guard lock(mutex_);
  const timeline time(options_.base, start_);
  std::uint64_t dropped = 0;
  out.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  out.write(metadata("process_name", 0, R"("name":)" + json_string(options_.process_name)));
  for (const track& t : tracks_) {
    const std::uint32_t id = t.number();  // not 0: Perfetto takes that for the process itself
    out.write(",\n" + metadata("thread_name", id, R"("name":)" + json_string(t.title())));
    out.write(",\n" + metadata("thread_sort_index", id, fmt::format(R"("sort_index":{})", id)));
    track_writer writer(out, time, id);
    t.for_each([&](const event& e) { writer.write(e); });
    writer.close_open_slices();
    dropped += t.dropped();
  }
  out.write(fmt::format("\n],\"otherData\":{{\"clock\":\"{}\",\"dropped_events\":{}}}}}\n",
                        options_.base == time_base::host ? "host" : "virtual", dropped));
}

}  // namespace creek::trace
