"""Charts as SVG, readable on light and on dark paper: ratios as marks on a line, and curves on logarithmic axes."""

import html
import math

STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#424a53}.head{font-size:15px;font-weight:600}.part{font-weight:600}.far{text-anchor:end}"
    ".mid{text-anchor:middle}.grid{stroke:#8b949e;stroke-opacity:.3}.one{stroke:#8b949e;stroke-width:1.5}"
    "@media(prefers-color-scheme:dark){text{fill:#c9d1d9}}"
)
TICKS = [step * 10.0**power for power in range(-4, 4) for step in (1, 2, 5)]
COLOURS = ("#3b82f6", "#e8850c", "#22a06b", "#b45ad1", "#8b949e", "#d1495b")


def _text(x, y, words, kind=""):
    return f'<text x="{x:.1f}" y="{y:.1f}"' + (f' class="{kind}"' if kind else "") + f">{html.escape(str(words))}</text>"


def _line(x1, y1, x2, y2, kind="grid"):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _mark(x, y, kind):
    """A mark that differs from the others in form and in colour."""
    colour, size = COLOURS[kind % len(COLOURS)], 4.5
    form = kind % 5
    if form == 4:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size - 1}" fill="none" stroke="{colour}" stroke-width="2"/>'
    if form == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{colour}"/>'
    points = {
        1: ((-1, -1), (1, -1), (1, 1), (-1, 1)),
        2: ((0, -1.2), (1.2, 1), (-1.2, 1)),
        3: ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    }[form]
    return f'<polygon points="{" ".join(f"{x + size * a:.1f},{y + size * b:.1f}" for a, b in points)}" fill="{colour}"/>'


def _legend(names, x, y):
    parts = []
    for kind, name in enumerate(names):
        parts += [_mark(x, y - 4, kind), _text(x + 10, y, name)]
        x += 26 + 6.9 * len(name)
    return "".join(parts)


def _document(width, height, title, parts):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" role="img" aria-label="{html.escape(title)}">'
        f'<style>{STYLE}</style>{_text(10, 22, title, "head")}{"".join(parts)}</svg>\n'
    )


def ratios(title, legend, groups, note):
    """Rows of ratios on one logarithmic axis with a line at 1.

    `groups` are (name, rows), rows (name, list of (kind of mark, ratio)); `legend` names the kinds of marks.
    """
    width, left, right, step = 860, 190, 840, 18
    found = [ratio for _, rows in groups for _, marks in rows for _, ratio in marks]
    low, high = max(tick for tick in TICKS if tick <= min(*found, 0.5)), min(tick for tick in TICKS if tick >= max(*found, 2))
    place = lambda ratio: left + (right - left) * math.log(ratio / low) / math.log(high / low)
    parts, y = [_legend(legend, 20, 46), _text(10, 68, note)], 96
    ticks = [tick for tick in TICKS if low <= tick <= high]
    top, rows_end = y - 8, y + sum(28 + step * len(rows) for _, rows in groups)
    for tick in ticks:
        parts += [
            _line(place(tick), top, place(tick), rows_end, "one" if tick == 1 else "grid"),
            _text(place(tick), top - 4, f"{tick:g}×", "mid"),
            _text(place(tick), rows_end + 14, f"{tick:g}×", "mid"),
        ]
    for name, rows in groups:
        y += 18
        parts.append(_text(10, y - 4, name, "part"))
        for row, marks in rows:
            y += step
            parts.append(_text(left - 14, y, row, "far"))
            parts += [_mark(place(ratio), y - 4, kind) for kind, ratio in sorted(marks, reverse=True)]
        y += 10
    return _document(width, rows_end + 24, title, parts)


def _short(value):
    """An axis label: 1, 64, 1k, 1M, 0.1 …"""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def _decades(low, high):
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    return first, max(last, first + 1)


def _panel(x, y, width, height, panel):
    title, across, upward, series = panel
    points = [point for _, values in series for point in values if point[0] > 0 and point[1] > 0]
    if not points:
        return []
    xs, (low, high) = sorted({point[0] for point in points}), _decades(min(p[1] for p in points), max(p[1] for p in points))
    left, right, top, bottom = x + 56, x + width - 22, y + 48, y + height - 40
    span = math.log(xs[-1] / xs[0]) or 1.0
    place_x = lambda value: left + (right - left) * math.log(value / xs[0]) / span
    place_y = lambda value: bottom - (bottom - top) * (math.log10(value) - low) / (high - low)
    parts = [_text(x + 8, y + 14, title, "part"), _legend([name for name, _ in series], x + 18, y + 34)]
    parts += [
        line
        for power in range(low, high + 1)
        for line in (
            _line(left, place_y(10.0**power), right, place_y(10.0**power)),
            _text(left - 6, place_y(10.0**power) + 4, _short(10.0**power), "far"),
        )
    ]
    shown = xs if len(xs) <= 8 else xs[::2]
    parts += [_text(place_x(value), bottom + 16, _short(value), "mid") for value in shown]
    parts += [
        _text((left + right) / 2, bottom + 32, across, "mid"),
        f'<text transform="translate({x + 12},{(top + bottom) / 2:.0f}) rotate(-90)" class="mid">{html.escape(upward)}</text>',
    ]
    for kind, (_, values) in enumerate(series):
        placed = [(place_x(a), place_y(b)) for a, b in values if a > 0 and b > 0]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in placed)
        parts += [
            f'<polyline points="{path}" fill="none" stroke="{COLOURS[kind % len(COLOURS)]}" stroke-width="2"/>',
            *[_mark(a, b, kind) for a, b in placed],
        ]
    return parts


def curves(title, panels, columns=2):
    """Panels of curves, both axes logarithmic. A panel is (title, what goes across, what goes up, series), a series (name, points)."""
    width, height = 430, 290
    parts = []
    for index, panel in enumerate(panels):
        parts += _panel(10 + index % columns * width, 36 + index // columns * height, width, height, panel)
    return _document(columns * width + 20, 40 + math.ceil(len(panels) / columns) * height, title, parts)
