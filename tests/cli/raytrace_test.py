#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""creek raytrace: pictures are compared with those of a small ray tracer in this file, which shares no code with
creek: it looks at all objects for each ray, and tests triangles by areas."""
import json
import math
import os
import random
import resource
import struct
import subprocess
import unittest
import zlib

from tool_case import TOOL, FolderCase


def run(*arguments, **more):
    return subprocess.run([TOOL, "raytrace", *arguments], capture_output=True, timeout=250, **more)


def ppm(data):
    """Returns width, height and the bytes of a PPM file."""
    magic, width, height, most, pixels = data.split(maxsplit=4)
    assert (magic, most) == (b"P6", b"255")
    pixels = data[data.index(b"\n255\n") + 5:]
    assert len(pixels) == int(width) * int(height) * 3
    return int(width), int(height), pixels


def png(data):
    """Decodes a PNG file of 8 bits per colour; every checksum must be right."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, []
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(name + body)
        chunks.append((name, body))
        at += 12 + size
    assert chunks[0][0] == b"IHDR" and chunks[-1] == (b"IEND", b"")
    width, height, *kind = struct.unpack(">IIBBBBB", chunks[0][1])
    assert kind == [8, 2, 0, 0, 0]
    rows = zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT"))
    line, before, pixels = width * 3, bytes(width * 3), b""
    assert len(rows) == (line + 1) * height
    for y in range(height):
        how, row = rows[y * (line + 1)], bytearray(rows[y * (line + 1) + 1:(y + 1) * (line + 1)])
        for i in range(line):
            a, b, c = (row[i - 3] if i >= 3 else 0), before[i], (before[i - 3] if i >= 3 else 0)
            near = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            row[i] = row[i] + (0, a, b, (a + b) // 2, near)[how] & 255
        before = bytes(row)
        pixels += before
    return width, height, pixels


# --- The other ray tracer.

def sub(a, b):
    return tuple(x - y for x, y in zip(a, b))


def along(a, s, b):
    return tuple(x + s * y for x, y in zip(a, b))


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def unit(a):
    size = math.hypot(*a)
    return tuple(x / size for x in a)


def meet(thing, origin, direction):
    """Returns the smallest distance above 1e-6 at which the ray meets a thing, or infinity."""
    if thing[0] == "sphere":
        _, _, centre, radius = thing
        from_centre = sub(origin, centre)
        b, c = 2 * dot(from_centre, direction), dot(from_centre, from_centre) - radius * radius
        inside = b * b - 4 * c
        if inside < 0:
            return math.inf
        ends = sorted(((-b - math.sqrt(inside)) / 2, (-b + math.sqrt(inside)) / 2))
        return next((t for t in ends if t > 1e-6), math.inf)
    _, _, p, q, r = thing
    normal = cross(sub(q, p), sub(r, p))
    slope = dot(normal, direction)
    if slope == 0:
        return math.inf
    distance = dot(normal, sub(p, origin)) / slope
    point = along(origin, distance, direction)
    areas = [dot(normal, cross(sub(b, a), sub(point, a))) for a, b in ((p, q), (q, r), (r, p))]
    return distance if distance > 1e-6 and min(areas) >= 0 else math.inf


def trace(scene, origin, direction, reflections=0):
    distance, thing = min(((meet(each, origin, direction), each) for each in scene["things"]),
                          key=lambda found: found[0], default=(math.inf, None))
    if distance == math.inf:
        return scene["background"]
    colour, specular, shininess, reflection = scene["materials"][thing[1]]
    point = along(origin, distance, direction)
    normal = unit(sub(point, thing[2]) if thing[0] == "sphere" else cross(sub(thing[3], thing[2]),
                                                                          sub(thing[4], thing[2])))
    if dot(normal, direction) > 0:
        normal = tuple(-x for x in normal)
    light = [a * c for a, c in zip(scene["ambient"], colour)]
    for position, power in scene["lights"]:
        to = unit(sub(position, point))
        far = math.hypot(*sub(position, point))
        cosine = dot(normal, to)
        if cosine <= 0 or any(meet(each, point, to) < far for each in scene["things"]):
            continue
        mirrored = along(tuple(-x for x in to), 2 * cosine, normal)
        highlight = max(0, -dot(mirrored, direction)) ** shininess
        light = [l + p * (c * cosine + specular * highlight) for l, p, c in zip(light, power, colour)]
    if reflection == 0 or reflections == scene["depth"]:
        return light
    mirrored = unit(along(direction, -2 * dot(direction, normal), normal))
    other = trace(scene, point, mirrored, reflections + 1)
    return [(1 - reflection) * l + reflection * o for l, o in zip(light, other)]


def coded(value):
    value = min(max(value, 0), 1)
    value = 12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055
    return math.floor(value * 255 + 0.5)


def picture(scene):
    (width, height), samples = scene["size"], scene["samples"]
    position, target, degrees = scene["camera"]
    forward = unit(sub(target, position))
    right = unit(cross(forward, (0, 1, 0)))
    up = cross(right, forward)
    half = math.tan(math.radians(degrees) / 2)
    pixels = []
    for y in range(height):
        for x in range(width):
            colours = []
            for j in range(samples):
                for i in range(samples):
                    u = (x + (i + 0.5) / samples - width / 2) * 2 / height * half
                    v = (height / 2 - y - (j + 0.5) / samples) * 2 / height * half
                    colours.append(trace(scene, position, unit(along(along(forward, u, right), v, up))))
            pixels += [coded(sum(each) / len(colours)) for each in zip(*colours)]
    return pixels


def text_of(scene):
    def words(*values):
        return " ".join(repr(v) if not isinstance(v, str) else v for v in values)
    lines = [words("size", *scene["size"]), words("samples", scene["samples"]), words("depth", scene["depth"]),
             words("background", *scene["background"]), words("ambient", *scene["ambient"]),
             words("camera", *scene["camera"][0], *scene["camera"][1], scene["camera"][2])]
    lines += [words("light", *position, *power) for position, power in scene["lights"]]
    lines += [words("material", name, *colour, *rest) for name, (colour, *rest) in scene["materials"].items()]
    for kind, material, first, *rest in scene["things"]:
        rest = rest if kind == "sphere" else [*rest[0], *rest[1]]
        lines.append(words(kind, material, *first, *rest))
    return "\n".join(lines) + "\n"


def small_scene():
    return {"size": (37, 26), "samples": 2, "depth": 3, "background": (0.2, 0.3, 0.5), "ambient": (0.1, 0.1, 0.12),
            "camera": ((0.3, 1.5, 6), (0, 0.6, 0), 42),
            "lights": [((4, 5, 4), (0.8, 0.8, 0.7)), ((-3, 6, 2), (0.3, 0.3, 0.5))],
            "materials": {"floor": ((0.6, 0.6, 0.5), 0, 1, 0.3), "red": ((0.9, 0.2, 0.1), 0.6, 40, 0),
                          "mirror": ((0.8, 0.8, 0.8), 0.8, 150, 0.7), "leaf": ((0.2, 0.7, 0.2), 0.1, 5, 0.05)},
            "things": [("triangle", "floor", (-6, 0, -6.1), (-6, 0, 6), (6.1, 0, 6)),
                       ("triangle", "floor", (-6, 0, -6.1), (6.1, 0, 6), (6, 0, -6)),
                       ("sphere", "red", (-1.2, 0.7, 0.4), 0.7), ("sphere", "mirror", (0.6, 1, -0.8), 1),
                       ("sphere", "leaf", (0.9, 0.31, 1.4), 0.3),
                       ("triangle", "leaf", (1.4, 0.01, 0.2), (2.6, 0.02, 0.3), (2, 1.5, -0.2))]}


def random_scene(seed, things=150):
    some = random.Random(seed)

    def near(size):
        return tuple(some.uniform(-size, size) for _ in range(3))
    scene = {"size": (24, 18), "samples": 1, "depth": 2, "background": (0.1, 0.1, 0.2), "ambient": (0.2, 0.2, 0.2),
             "camera": ((0.1, 0.2, 7), (0, 0, 0), 45), "lights": [((5, 6, 7), (0.9, 0.9, 0.9))],
             "materials": {f"m{i}": (tuple(some.uniform(0, 1) for _ in range(3)), some.choice((0, 0.5)), 20,
                                     some.choice((0, 0, 0.4))) for i in range(5)}, "things": []}
    for _ in range(things):
        material, middle = f"m{some.randrange(5)}", near(2.5)
        if some.random() < 0.3:
            scene["things"].append(("sphere", material, middle, some.uniform(0.05, 0.5)))
        else:
            corners = [along(middle, 1, near(0.8)) for _ in range(3)]
            scene["things"].append(("triangle", material, *corners))
    # A sphere has its number before those of triangles; no two things are at the same distance here.
    return scene


class Picture(FolderCase):
    def drawn(self, scene, *arguments):
        file = self.write("scene.txt", text_of(scene).encode())
        done = run(file, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return ppm(done.stdout)

    def compare(self, scene):
        width, height, found = self.drawn(scene)
        self.assertEqual((width, height), scene["size"])
        expected = picture(scene)
        self.assertGreater(len(set(expected)), 50)  # the picture is not empty
        far = [(i // 3 % width, i // 3 // width, a, b) for i, (a, b) in enumerate(zip(found, expected))
               if abs(a - b) > 1]
        self.assertEqual(far, [])

    def test_is_that_of_another_ray_tracer(self):
        self.compare(small_scene())

    def test_of_many_objects_is_that_without_a_tree(self):
        for seed in (int(os.environ.get("CREEK_TEST_SEED", 1)), 2):
            with self.subTest(f"CREEK_TEST_SEED={seed}"):
                self.compare(random_scene(seed))

    def test_of_equal_and_degenerate_places(self):
        """Objects with the same middle cannot be divided by place."""
        scene = random_scene(3, 0)
        scene["things"] = [("sphere", f"m{i % 5}", (0, 0, 0), 0.5 + i * 0.01) for i in range(40)]
        scene["things"] += [("triangle", "m1", (-2, -1.5, i * -0.001), (2, -1.5, i * -0.001), (0, -1, i * -0.001))
                            for i in range(40)]
        self.compare(scene)

    def test_without_objects_or_lights(self):
        scene = {**small_scene(), "things": [], "lights": []}
        width, height, pixels = self.drawn(scene)
        self.assertEqual(pixels, bytes(coded(c) for c in scene["background"]) * (width * height))

    def test_does_not_depend_on_workers_backend_or_cores(self):
        file = self.write("scene.txt", text_of(random_scene(5)).encode())
        for form in ("ppm", "png"):
            one = run(file, "--workers", "1", "--width", "61", "--height", "47", "--format", form).stdout
            self.assertGreater(len(one), 1000)
            for how in (("--workers", "2"), ("--workers", "7"), ("--backend", "tbb"),
                        *(("--backend", "scc", "--cores", str(n)) for n in (1, 2, 5, 48))):
                done = run(file, *how, "--width", "61", "--height", "47", "--format", form)
                self.assertEqual((done.returncode, done.stdout == one), (0, True), how)

    def test_png_has_the_pixels_of_ppm(self):
        for width, height in ((1, 1), (1, 9), (50, 1), (33, 21)):
            size = ("--width", str(width), "--height", str(height))
            a = run(*size, "-o", self.path("a.png"))
            b = run(*size, "-o", self.path("a.ppm"))
            self.assertEqual((a.returncode, b.returncode), (0, 0))
            with open(self.path("a.png"), "rb") as x, open(self.path("a.ppm"), "rb") as y:
                self.assertEqual(png(x.read()), ppm(y.read()))

    def test_the_demo_is_a_scene(self):
        text = run("--print-demo").stdout
        size = ("--width", "64", "--height", "48", "--samples", "1")
        self.assertEqual(run("-", *size, input=text).stdout, run(*size).stdout)

    def test_reports(self):
        done = run("-o", self.path("a.png"), "--width", "32", "--height", "24", "--workers", "2", "--json")
        report = self.report_of(done)
        self.assertEqual((report["width"], report["height"], report["workers"]), (32, 24, 2))
        self.assertGreater(report["rays"], 32 * 24 * 4)
        self.assertEqual(run("-o", self.path("a.png"), "--width", "9", "--quiet").stdout, b"")

    def test_shows_what_the_stages_did(self):
        done = run("-o", self.path("out.ppm"), "--width", "40", "--height", "30", "--workers", "2", "--report",
                   "--dot", self.path("out.dot"), "--trace", self.path("out.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stderr.decode().splitlines()
        self.assertRegex(lines[0], r"^[0-9.]+ s, 2 workers$")
        self.assertTrue(any(line.startswith("source -> stage 1") for line in lines), lines)
        with open(self.path("out.dot")) as graph:
            self.assertTrue(graph.read().startswith("digraph network {"))
        with open(self.path("out.json")) as trace:
            names = {event.get("args", {}).get("name") for event in json.load(trace)["traceEvents"]}
        self.assertLessEqual({"source", "sink"}, names)

    def test_shares_the_energy_of_the_chip_among_the_stages(self):
        done = run("-o", self.path("out.ppm"), "--width", "64", "--height", "48", "--backend", "scc", "--cores", "4",
                   "--report", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stderr.decode().splitlines()
        chip = json.loads(done.stdout)["simulated"]
        self.assertEqual(lines[0], f"{chip['virtual_ms'] / 1e3:.3f} s, 4 workers")
        self.assertTrue(lines[1].endswith("joules"), lines)
        joules = [float(line.split()[-1]) for line in lines[2:7]]  # four processes and the rest
        self.assertAlmostEqual(sum(joules), chip["joules"], delta=0.003)
        self.assertGreater(joules[1], 0.05 * chip["joules"])  # four of 48 cores, in the tasks of the stage

    def test_shares_modelled_energy_among_the_stages(self):
        done = run("-o", self.path("out.ppm"), "--width", "200", "--height", "150", "--workers", "2", "--report",
                   env={**os.environ, "CREEK_METER": "model"})
        lines = done.stderr.decode().splitlines()
        self.assertTrue(lines[1].endswith("joules"), lines)
        self.assertGreater(float(lines[3].split()[-1]), 0)
        without = run("-o", self.path("out.ppm"), "--width", "9", "--report", env={**os.environ, "CREEK_METER": "none"})
        self.assertNotIn(b"joules", without.stderr)

    def test_a_graph_that_cannot_be_written_is_refused_first(self):
        for option in (("--dot",), ("--trace",), ("--backend", "scc", "--heatmap")):
            with self.subTest(option):
                self.fails(run("-o", self.path("out.ppm"), *option, self.path("missing/out")), 1, "missing/out")
                self.assertFalse(os.path.exists(self.path("out.ppm")))

    def test_on_the_chip_more_cores_take_less_time(self):
        times = {}
        for cores in (1, 8):
            how = ("-o", self.path("a.ppm"), "--width", "64", "--height", "48", "--backend", "scc",
                   "--cores", str(cores), "--json")
            report, again = self.report_of(run(*how)), self.report_of(run(*how))
            self.assertEqual(report["simulated"], again["simulated"])
            times[cores] = report["simulated"]["virtual_ms"]
            self.assertGreater(report["simulated"]["joules"], 0)
        self.assertGreater(times[1], 3 * times[8])


class Failures(FolderCase):
    def test_mistakes_are_named_with_their_line(self):
        head = "# a comment\nmaterial m 1 1 1 0 1 0\n\n"
        for line, part in (
                ("cube m 1 2 3", "unknown statement 'cube'"), ("sphere m 1 2 3", "'sphere' takes"),
                ("sphere m 1 2 3 4 5", "5 words, got 6"), ("sphere n 1 2 3 4", "material 'n' is not known"),
                ("sphere m 1 x 3 4", "'x' is not a number"), ("sphere m 1 1e999 3 4", "'1e999' is not a number"),
                ("sphere m 1 nan 3 4", "'nan' is not a number"), ("sphere m 1 2 3 0", "0 must be between"),
                ("sphere m 1 2 3 -1", "-1 must be between"), ("material m 1 1 1 0 1 0", "'m' is there twice"),
                ("material k 1 1 1 0 1 1.5", "1.5 must be between 0 and 1"),
                ("triangle m 0 0 0 1 1 1 2 2 2", "no area"), ("camera 0 1 0 0 0 0 50", "straight up or down"),
                ("camera 0 1 1 0 1 1 50", "at itself"),
                ("camera 1e-200 5 0 0 0 0 50", "straight up or down"), ("camera 1e-200 0 0 0 0 0 50", "line 4"), ("camera 0 1 1 0 0 0 180", "180 must be between 1 and 179"),
                ("size 10 0", "0 must be between 1 and"), ("size 10.5 1", "10.5 is not a whole number"),
                ("samples 65", "65 must be between 1 and 64"), ("depth -1", "-1 must be between 0 and 64"),
                ("light 1 2 3 4 5", "'light' takes"), ("background -1 0 0", "-1 must be between"),
                ("\xff\x00", "unknown statement")):
            with self.subTest(line):
                file = self.write("bad.txt", (head + line + "\n").encode("latin-1"))
                self.fails(run(file, "-o", self.path("out.png")), 1, "bad.txt: line 4: ", part)
                self.assertFalse(os.path.exists(self.path("out.png")))
        self.fails(run("-", input=b"what"), 1, "standard input: line 1: ")

    def test_files_that_cannot_be_read_or_written(self):
        out = self.path("out.png")
        self.fails(run(self.path("missing"), "-o", out), 1, "missing", "No such file")
        self.fails(run(self.folder.name, "-o", out), 1, "Is a directory")
        self.fails(run("-o", self.path("none/out.png")), 1, "none/out.png", "No such file")
        self.fails(run("--format", "ppm", "-o", "/dev/full"), 1, "/dev/full", "No space left")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        self.write("out.ppm", b"old")
        self.fails(run("-o", self.path("out.ppm"), preexec_fn=limit), 1, "out.ppm", "File too large")
        with open(self.path("out.ppm"), "rb") as file:
            self.assertEqual(file.read(), b"old")
        self.assertEqual(os.listdir(self.folder.name), ["out.ppm"])

    def test_a_pipe_that_its_reader_has_closed(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([TOOL, "raytrace"], stdout=writer, stderr=subprocess.PIPE, timeout=60)
        os.close(writer)
        done.stdout = b""
        self.fails(done, 1, "standard output", "Broken pipe")

    def test_bad_usage(self):
        out = ("-o", self.path("out.png"))
        for arguments, parts in ((("-o", "out.gif"), (".png", "out.gif")), ((*out, "--width", "0"), ("--width",)),
                                 ((*out, "--height", "65536"), ("--height",)),
                                 ((*out, "--samples", "65"), ("--samples",)), (("--json",), ("--json", "--output")),
                                 ((*out, "--format", "gif"), ("--format",)),
                                 ((*out, "--cores", "2"), ("--cores", "--backend scc")),
                                 ((*out, "--backend", "scc", "--workers", "2"), ("--workers", "--cores"))):
            with self.subTest(arguments):
                self.fails(run(*arguments), 2, *parts)
        self.assertEqual(os.listdir(self.folder.name), [])


if __name__ == "__main__":
    unittest.main()
