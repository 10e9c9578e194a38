"""CPU milliseconds of one decode to RGBA, one 256 pixel thumbnail, and one animation scaled to 256 pixels and written as
WebP, from memory, and by how many MiB each program's peak memory grew: ours against the peers that are installed. Every figure is the median of several in a process of its own; the programs take turns."""
import os
import statistics
import subprocess
import sys

ROUNDS = 7

PILLOW = """
import io, resource, statistics, sys
from PIL import Image, ImageSequence
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
data = open(sys.argv[2], 'rb').read()
def cpu():
    r = resource.getrusage(resource.RUSAGE_SELF); return (r.ru_utime + r.ru_stime) * 1000
times = []
for _ in range(int(sys.argv[3])):
    begin = cpu()
    image = Image.open(io.BytesIO(data))
    if sys.argv[1] == 'twebp':
        size = (256, round(256 * image.height / image.width))
        frames = [f.convert('RGBA').resize(size, Image.LANCZOS, reducing_gap=2.0) for f in ImageSequence.Iterator(image)]
        frames[0].save(io.BytesIO(), 'WEBP', save_all=True, append_images=frames[1:], quality=80, method=4, duration=40)
    elif sys.argv[1] == 'thumb':
        image.draft('RGB', (256, 256)); image.thumbnail((256, 100000), Image.LANCZOS, reducing_gap=2.0)
    else:
        image.convert('RGBA').load()
    times.append(cpu() - begin)
print(statistics.median(times), peak() - before)
"""
VIPS = """
import os, resource, statistics, sys
os.environ['VIPS_CONCURRENCY'] = '1'
import pyvips
pyvips.cache_set_max(0)
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
data = open(sys.argv[2], 'rb').read()
def cpu():
    r = resource.getrusage(resource.RUSAGE_SELF); return (r.ru_utime + r.ru_stime) * 1000
times = []
for _ in range(int(sys.argv[3])):
    begin = cpu()
    if sys.argv[1] == 'twebp':
        image = pyvips.Image.thumbnail_buffer(data, 256, height=10000000, size='down', option_string='n=-1')
        image.webpsave_buffer(Q=80)
    elif sys.argv[1] == 'thumb':
        pyvips.Image.thumbnail_buffer(data, 256, height=100000, size='down').write_to_memory()
    else:
        image = pyvips.Image.new_from_buffer(data, '')
        (image if image.hasalpha() else image.addalpha()).write_to_memory()
    times.append(cpu() - begin)
print(statistics.median(times), peak() - before)
"""


def run(command):
    result = subprocess.run(command, capture_output=True, text=True)
    return [float(word) for word in result.stdout.split()[-2:]] if result.returncode == 0 else None


def main(bench, folder):
    engines = {
        "webimage": lambda op, path: run([bench, "work", op, path, str(ROUNDS)]),
        "pillow": lambda op, path: run([sys.executable, "-c", PILLOW, op, path, str(ROUNDS)]),
        "libvips": lambda op, path: run([sys.executable, "-c", VIPS, op, path, str(ROUNDS)]),
    }
    print(f"{'input':10} {'work':7}" + "".join(f"{name:>13}" for name in engines) + "   ours / best peer")
    for name in ["p12.jpg", "p12p.jpg", "p4.png", "p12.webp", "p4.avif", "anim.gif"]:
        if not os.path.exists(f"{folder}/{name}"):
            continue
        for operation in ["decode", "thumb"] + (["twebp"] if name == "anim.gif" else []):
            figures = {engine: [] for engine in engines}
            for _ in range(3):
                for engine, measure in engines.items():
                    value = measure(operation, f"{folder}/{name}")
                    if value is not None:
                        figures[engine].append(value)
            medians = {engine: statistics.median(cpu for cpu, _ in v) for engine, v in figures.items() if v}
            memory = {engine: statistics.median(kib for _, kib in v) / 1024 for engine, v in figures.items() if v}
            peers = [value for engine, value in medians.items() if engine != "webimage"]
            ratio = f"{medians['webimage'] / min(peers):.2f}" if peers else "-"
            cells = "".join(
                f"{medians[e]:7.1f} {'(%.0f)' % memory[e]:>5}" if e in medians else f"{'-':>13}" for e in engines)
            print(f"{name:10} {operation:7}{cells}   {ratio}")


main(*sys.argv[1:])
