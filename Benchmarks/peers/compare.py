"""CPU milliseconds of one decode to RGBA and one 256 pixel thumbnail, from memory, ours against the peers that are
installed. Every figure is the median of several in a process of its own; the programs take turns."""
import statistics
import subprocess
import sys

ROUNDS = 7

PILLOW = """
import io, resource, statistics, sys
from PIL import Image
data = open(sys.argv[2], 'rb').read()
def cpu():
    r = resource.getrusage(resource.RUSAGE_SELF); return (r.ru_utime + r.ru_stime) * 1000
times = []
for _ in range(int(sys.argv[3])):
    begin = cpu()
    image = Image.open(io.BytesIO(data))
    if sys.argv[1] == 'thumb':
        image.draft('RGB', (256, 256)); image.thumbnail((256, 100000), Image.LANCZOS)
    else:
        image.convert('RGBA').load()
    times.append(cpu() - begin)
print(statistics.median(times))
"""
VIPS = """
import os, resource, statistics, sys
os.environ['VIPS_CONCURRENCY'] = '1'
import pyvips
pyvips.cache_set_max(0)
data = open(sys.argv[2], 'rb').read()
def cpu():
    r = resource.getrusage(resource.RUSAGE_SELF); return (r.ru_utime + r.ru_stime) * 1000
times = []
for _ in range(int(sys.argv[3])):
    begin = cpu()
    if sys.argv[1] == 'thumb':
        pyvips.Image.thumbnail_buffer(data, 256, height=100000, size='down').write_to_memory()
    else:
        image = pyvips.Image.new_from_buffer(data, '')
        (image if image.hasalpha() else image.addalpha()).write_to_memory()
    times.append(cpu() - begin)
print(statistics.median(times))
"""


def run(command):
    result = subprocess.run(command, capture_output=True, text=True)
    return float(result.stdout.split()[-1]) if result.returncode == 0 else None


def main(bench, folder):
    engines = {
        "webimage": lambda op, path: run([bench, "work", op, path, str(ROUNDS)]),
        "pillow": lambda op, path: run([sys.executable, "-c", PILLOW, op, path, str(ROUNDS)]),
        "libvips": lambda op, path: run([sys.executable, "-c", VIPS, op, path, str(ROUNDS)]),
    }
    print(f"{'input':10} {'work':7}" + "".join(f"{name:>12}" for name in engines) + "   ours / best peer")
    for name in ["p12.jpg", "p12p.jpg", "p4.png"]:
        for operation in ["decode", "thumb"]:
            figures = {engine: [] for engine in engines}
            for _ in range(3):
                for engine, measure in engines.items():
                    value = measure(operation, f"{folder}/{name}")
                    if value is not None:
                        figures[engine].append(value)
            medians = {engine: statistics.median(v) for engine, v in figures.items() if v}
            peers = [value for engine, value in medians.items() if engine != "webimage"]
            ratio = f"{medians['webimage'] / min(peers):.2f}" if peers else "-"
            cells = "".join(f"{medians[e]:12.1f}" if e in medians else f"{'-':>12}" for e in engines)
            print(f"{name:10} {operation:7}{cells}   {ratio}")


main(*sys.argv[1:])
