"""Draws the results of compare.py: chart.py PEERS.json OUT.svg. Each row has a bar: our processor time as a fraction of the
fastest peer's, or of the bare library's if there is no peer. Bars end at twice the peer's time."""
import json
import sys
from xml.sax.saxutils import escape

LABEL, BAR, ROW, TOP, BOTTOM, MOST = 260, 420, 18, 64, 44, 2.0
AHEAD, BEHIND, INK, LINE = "#2f7d4f", "#b5542d", "#3a3f45", "#9aa2ab"


def main():
    with open(sys.argv[1]) as file:
        table = json.load(file)
    rows = []
    for cell in table["cells"]:
        cpu = dict(cell["cpu_ms"])
        ours = cpu.pop("ours")
        bare = cpu.pop("bare", None)
        rival = min(cpu, key=cpu.get) if cpu else None
        if rival is None and bare is None:
            continue
        against, name = (cpu[rival], rival) if rival else (bare, "bare library")
        rows.append((f"{cell['file']} {cell['operation']}", ours / against, ours, against, name))
    width, height = LABEL + BAR + 240, TOP + ROW * len(rows) + BOTTOM
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="16" y="26" font-size="16" font-weight="bold" fill="{INK}">Processor time, as a part of the fastest peer\'s'
        '</text>',
        f'<text x="16" y="46" fill="{INK}">shorter is faster; the line is the fastest of Pillow, pillow-simd, libvips and OpenCV'
        '</text>']
    line = LABEL + BAR / MOST
    for index, (label, ratio, ours, against, name) in enumerate(rows):
        y = TOP + ROW * index
        length = min(ratio, MOST) * BAR / MOST
        out.append(f'<text x="{LABEL - 10}" y="{y + 13}" text-anchor="end" fill="{INK}">{escape(label)}</text>')
        out.append(
            f'<rect x="{LABEL}" y="{y + 3}" width="{length:.1f}" height="{ROW - 6}" rx="2" '
            f'fill="{AHEAD if ratio <= 1 else BEHIND}"/>')
        out.append(
            f'<text x="{LABEL + BAR + 10}" y="{y + 13}" fill="{INK}">{ratio:.2f}  ({ours:.1f} to {against:.1f} ms, '
            f'{escape(name)})</text>')
    end = TOP + ROW * len(rows)
    out.append(f'<line x1="{line}" y1="{TOP - 6}" x2="{line}" y2="{end + 4}" stroke="{LINE}" stroke-width="1.5"/>')
    versions = ", ".join(f"{name} {version}" for name, version in table["versions"].items() if version)
    out.append(
        f'<text x="16" y="{end + 26}" font-size="11" fill="{INK}">{escape(table["date"])}; {escape(table["machine"])}; '
        f'{escape(versions)}</text>')
    with open(sys.argv[2], "w") as file:
        file.write("\n".join(out + ["</svg>\n"]))
    print(f"{sys.argv[2]}: {len(rows)} rows, {sum(ratio <= 1 for _, ratio, *_ in rows)} of them ahead of the fastest peer")


main()
