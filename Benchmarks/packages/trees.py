"""The four apps that the benchmarks pack: the same bytes on every machine.

Three quarters of the bytes are pictures, which do not compress; the rest is script, which zstd makes about five times
smaller.
"""

import json
import random

# name: (bytes in all, sizes of pictures, sizes of scripts), sizes in bytes from the first to the second.
SHAPES = {
    "100 KB": (100_000, (8_000, 30_000), (2_000, 12_000)),
    "10 MB": (10_000_000, (20_000, 400_000), (4_000, 150_000)),
    "200 MB": (200_000_000, (50_000, 4_000_000), (4_000, 400_000)),
    "10,000 files": (25_000_000, (2_500, 2_500), (2_500, 2_500)),
}
APP = "com.example.bench"
WORDS = (
    "account anchor buffer canvas client colour column cursor delta editor event field filter frame glyph handle index input item "
    "layer layout limit list margin message model mouse node offset order owner page panel path pixel point port queue range record "
    "render request result role route row scale scene scope screen scroll sector session shape sheet signal size slot source stage "
    "state store stream style table target theme thread tile timer token touch track tree value vector version view window"
).split()


def make(directory, shape, build=1):
    """Writes one app, and returns how many files it has."""
    total, pictures, scripts = SHAPES[shape]
    draw = random.Random(f"nsh-bench {shape}")
    directory.mkdir(parents=True)
    (directory / "app.json").write_text(json.dumps({"id": APP, "name": "Bench", "version": "1.0.0", "build": build}))
    files = [("bundle.js", script(draw, 4_000))]
    files += [
        (f"images/{number // 100}/{number:05}.png", picture(draw, size))
        for number, size in enumerate(sizes(draw, total * 3 // 4, *pictures))
    ]
    files += [
        (f"scripts/{number // 50}/{number:05}.js", script(draw, size))
        for number, size in enumerate(sizes(draw, total // 4, *scripts))
    ]
    for path, data in files:
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return len(files) + 1


def sizes(draw, total, least, most):
    while total > 0:
        size = min(int(least * (most / least) ** draw.random()), total)
        yield size
        total -= size


def picture(draw, size):
    return (b"\x89PNG\r\n\x1a\n" + draw.randbytes(size))[:size]


def script(draw, size):
    names = [draw.choice(WORDS) + draw.choice(WORDS).title() for _ in range(40)]
    lines, count = [], 0
    while count < size:
        a, b, c = (names[min(int(draw.expovariate(0.12)), 39)] for _ in range(3))
        line = draw.choice(
            (
                f"    let {a} = {b}.{c}({draw.randrange(1000)});\n",
                f"    if ({a}) return {b}({c});\n",
                f"function {a}({b}, {c}) {{\n",
                f"    {a}.{b} = {c} + {draw.randrange(100)};\n",
                "}\n\n",
                f"    // {draw.choice(WORDS)} {draw.choice(WORDS)} {draw.choice(WORDS)}\n",
            )
        )
        lines.append(line)
        count += len(line)
    return "".join(lines).encode()[:size]
