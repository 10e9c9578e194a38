"""Prints one table that compares our library with the bare C libraries, Pillow, pillow-simd and libvips. For each format it has
a full decode to RGBA, a thumbnail 256 pixels wide, and an encode of the decoded pixels; also an animation that is scaled and
written as WebP, resampling alone, and how close each thumbnail is to a full decode reduced with Lanczos.

A cell is the CPU time of all threads in milliseconds, the median of several runs in a process of its own on one processor (if the
system lets a process choose: Linux). In brackets is the growth of that process's peak memory in MiB. Programs take turns within
a row. The last columns are ratios of our time to the others of that row. "system" peers are built on this machine's libraries, as
ours is; the others bring libraries of their own. A star marks a row in which a peer, or the bare library, is more than 2 % ahead
of us.

If all rows are measured, the table is also written beside DATA, as peers.json, which chart.py draws.

usage: compare.py BENCH DATA VENVS [ROW...]   where a row is a file, or file:operation; `fidelity` selects the tables of PSNR
PEER_TURNS (3) and PEER_SECONDS (0.7) set how often and for how long each cell is measured; the least values are 1 and 0.
"""
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker.py")
BENCH, DATA, VENVS = sys.argv[1:4]
TURNS, SECONDS = int(os.environ.get("PEER_TURNS", "3")), os.environ.get("PEER_SECONDS", "0.7")
DECODED = ["p12.jpg", "p12p.jpg", "p4-gray.jpg", "p4.png", "p4-gray.png", "p4-palette.png", "p4-alpha.png", "p4-gray16.png",
           "p12.webp", "p4-alpha.webp", "p4.avif", "p4.heic", "p4.jxl", "p4.tif", "p4.bmp", "p4.qoi", "p4.ppm", "anim.gif"]
TRANSFORMS = ["resize", "blur2", "blur8", "blur30", "sharpen", "round", "overlay", "rotate", "point1", "point5", "chain5"]
ENCODED = ["jpeg", "png", "webp", "avif", "heic", "jxl", "tiff"]


# On a single processor: a second one would help only the programs that use it, and its time is counted as well.
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def rows():
    for name in DECODED:
        yield name, "decode"
        yield name, "thumb"
    yield "anim.gif", "twebp"
    for format in ENCODED:
        yield ("p4.png" if format in ("jpeg", "png", "webp", "tiff") else "p1.png"), f"encode-{format}"
    for width in (2000, 1000, 256):
        yield "p12.jpg", f"resample-{width}"
    for name in TRANSFORMS:
        yield "p12.jpg", f"do-{name}"


def engines():
    found = {"ours": [BENCH, "work"], "bare": [BENCH, "work"]}
    for name, kind in [("pillow", "pillow"), ("pillow-simd", "pillow"), ("vips", "vips"), ("system-vips", "vips"),
                       ("opencv", "opencv")]:
        python = f"{VENVS}/{name}/bin/python"
        if os.path.exists(python):
            found[name] = [python, WORKER, kind]
    return found


def measure(command, path, operation):
    try:
        result = subprocess.run(command + [path, operation, "t1", SECONDS], capture_output=True, text=True, timeout=300)
        return json.loads(result.stdout.strip().splitlines()[-1])
    except (subprocess.TimeoutExpired, ValueError, IndexError):
        return None


def table():
    found = engines()
    system = [name for name in ("pillow-simd", "system-vips") if name in found]
    print(f"{'':17}{'':15}" + "".join(f"{name:>16}" for name in found) + "   ours / bare, best system peer, best peer")
    cells_done = []
    for name, operation in rows():
        path = f"{DATA}/{name}"
        wanted = sys.argv[4:]
        if not os.path.exists(path) or wanted and name not in wanted and f"{name}:{operation}" not in wanted:
            continue
        cpu, memory = {}, {}
        for _ in range(TURNS):
            for engine, command in found.items():
                if engine == "bare" and (operation in ("thumb", "twebp") or operation.startswith(("resample", "do"))):
                    continue
                if engine == "opencv" and not operation.startswith("do"):
                    continue
                result = measure(command, path, ("bare-" if engine == "bare" else "") + operation)
                if result and result["out"] > 0:
                    cpu.setdefault(engine, []).append(result["cpu_ms"])
                    memory.setdefault(engine, []).append(result["rss_mb"] - result["base_mb"])
        median = {engine: statistics.median(values) for engine, values in cpu.items()}
        if "ours" not in median:
            print(f"{name:17}{operation:15} ours failed")
            continue

        def ratio(others):
            there = [median[engine] for engine in others if engine in median]
            return f"{median['ours'] / min(there):.2f}" if there else "-"

        cells = "".join(
            f"{median[e]:9.1f} {'(%.0f)' % statistics.median(memory[e]):>6}" if e in median else f"{'-':>16}" for e in found)
        peers = [engine for engine in found if engine not in ("ours", "bare")]
        best = min(median.values())
        mark = "*" if median["ours"] > 1.02 * best else " "
        print(f"{mark}{name:16}{operation:15}{cells}   {ratio(['bare'])}, {ratio(system)}, {ratio(peers)}", flush=True)
        cells_done.append({
            "file": name, "operation": operation, "cpu_ms": {engine: round(value, 3) for engine, value in median.items()},
            "memory_mib": {engine: round(statistics.median(values), 1) for engine, values in memory.items()}})
    print("\n* a peer or the bare library is more than 2 % ahead")
    # A selection of rows is not written.
    if not sys.argv[4:]:
        write(found, cells_done)


def write(found, cells):
    """Writes the table as JSON, with the versions and the machine."""
    def version(engine):
        python = found[engine][0]
        if engine == "bare":
            return ""
        if engine == "ours":
            return subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
        package = {"vips": "pyvips-binary", "system-vips": "pyvips", "opencv": "opencv-python-headless"}.get(engine, engine)
        words = subprocess.run([python, "-m", "pip", "show", package], capture_output=True, text=True).stdout.splitlines()
        return next((line.split()[1] for line in words if line.startswith("Version:")), "")

    models = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")] or [
        platform.machine()] if os.path.exists("/proc/cpuinfo") else [platform.processor()]
    path = os.path.join(os.path.dirname(os.path.abspath(DATA)), "peers.json")
    with open(path, "w") as file:
        json.dump({
            "date": datetime.date.today().isoformat(), "machine": f"{models[0]}, {os.cpu_count()} cores, {platform.system()}",
            "versions": {engine: version(engine) for engine in found}, "cells": cells}, file, indent=1)
    print(f"as JSON: {os.path.relpath(path)}")


def fidelity():
    """PSNR of luma against a full decode by Pillow, reduced with Lanczos in one step."""
    python = f"{VENVS}/pillow/bin/python"
    if not os.path.exists(python) or sys.argv[4:] not in ([], ["fidelity"]):
        return
    print("\nthumbnails: PSNR of luma in dB against a full decode reduced with Lanczos")
    for name in ["p12.jpg", "p12p.jpg", "p4.png", "p12.webp"]:
        cells = []
        for engine, command in engines().items():
            if engine == "bare":
                continue
            raw = subprocess.run(command + [f"{DATA}/{name}", "raw", "t1", "0"], capture_output=True).stdout
            result = subprocess.run([python, WORKER, "psnr", f"{DATA}/{name}"], input=raw, capture_output=True)
            cells.append(f"{engine} {result.stdout.decode().strip() or '-'}")
        print(f"{name:10}" + ", ".join(cells))
    print("\nresampling: PSNR against a reduction in float64 of the same Lanczos filter; the filters are Lanczos with 3 lobes")
    for width in ("1000", "256"):
        cells = []
        for engine, command in engines().items():
            if engine == "bare":
                continue
            raw = subprocess.run(command + [f"{DATA}/p4.png", f"raw-{width}", "t1", "0"], capture_output=True).stdout
            result = subprocess.run([python, WORKER, "psnr64", f"{DATA}/p4.png", width], input=raw, capture_output=True)
            cells.append(f"{engine} {result.stdout.decode().strip() or '-'}")
        print(f"p4.png to {width:5}" + ", ".join(cells))


table()
fidelity()
