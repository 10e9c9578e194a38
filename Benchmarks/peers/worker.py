"""A peer's side of one cell of compare.py: worker.py pillow|vips FILE OPERATION MODE SECONDS prints one JSON line, as
`webimage-bench work` does; `raw` and `raw-WIDTH` give the RGB bytes of a reduction instead. Only the engine that is measured
is imported."""
import io
import json
import os
import resource
import sys
import time

FORMATS = {"jpeg": ("JPEG", ".jpg", dict(quality=80, optimize=True), dict(Q=80, optimize_coding=True)),
           "png": ("PNG", ".png", {}, {}),
           "webp": ("WEBP", ".webp", dict(quality=80), dict(Q=80)),
           "avif": ("AVIF", ".avif", dict(quality=60, speed=6, max_threads=1), dict(Q=60, effort=3)),
           "heic": (None, ".heic", {}, dict(Q=60)), "jxl": (None, ".jxl", {}, dict(Q=80, effort=4)),
           "tiff": ("TIFF", ".tif", dict(compression="tiff_adobe_deflate"), dict(compression="deflate"))}


def usage():
    return resource.getrusage(resource.RUSAGE_SELF)


def pillow(path, operation):
    from PIL import Image, ImageSequence
    Image.MAX_IMAGE_PIXELS = None
    data = open(path, "rb").read()

    def opened():
        return Image.open(io.BytesIO(data))

    def shown():
        image = opened().convert("RGB")
        image.load()
        return image

    def scaled(image, width):
        return image.resize((width, max(1, round(image.height * width / image.width))), Image.LANCZOS)

    kind, _, word = operation.partition("-")
    if kind == "decode":
        return lambda: sum(len(frame.convert("RGBA").tobytes()) for frame in ImageSequence.Iterator(opened()))
    if kind == "twebp":
        def run():
            image = opened()
            size = (256, round(256 * image.height / image.width))
            frames = [f.convert("RGBA").resize(size, Image.LANCZOS, reducing_gap=2.0) for f in ImageSequence.Iterator(image)]
            output = io.BytesIO()
            frames[0].save(output, "WEBP", save_all=True, append_images=frames[1:], quality=80, duration=40)
            return output.tell()
        return run
    if kind in ("thumb", "raw") and not word:
        def pixels(image):
            image.thumbnail((256, 10_000_000), Image.LANCZOS, reducing_gap=2.0)
            return image.convert("RGB").tobytes()

        def frames():
            image = opened()
            if not getattr(image, "is_animated", False):
                return pixels(image)
            return b"".join(pixels(frame.convert("RGB")) for frame in ImageSequence.Iterator(image))
        return frames if kind == "raw" else lambda: len(frames())
    image = shown()
    if kind == "raw":
        return lambda: scaled(image, int(word)).tobytes()
    if kind == "resample":
        return lambda: len(scaled(image, int(word)).tobytes())
    name, _, options, _ = FORMATS[word]

    def encode():
        output = io.BytesIO()
        image.save(output, name, **options)
        return output.tell()
    return encode


def vips(path, operation):
    os.environ["VIPS_CONCURRENCY"] = "1"
    import pyvips
    pyvips.cache_set_max(0)
    data = open(path, "rb").read()
    kind, _, word = operation.partition("-")
    # Of an animation all frames, as ours.
    frames = "n=-1" if path.endswith(".gif") else ""
    if kind == "decode":
        def run():
            image = pyvips.Image.new_from_buffer(data, frames, access="sequential")
            return len((image if image.hasalpha() else image.addalpha()).write_to_memory())
        return run
    if kind == "twebp":
        return lambda: len(pyvips.Image.thumbnail_buffer(data, 256, height=10_000_000, option_string="n=-1")
                           .webpsave_buffer(Q=80))
    if kind in ("thumb", "raw") and not word:
        def run():
            image = pyvips.Image.thumbnail_buffer(data, 256, height=10_000_000, option_string=frames)
            pixels = image.extract_band(0, n=3).write_to_memory()
            return pixels if kind == "raw" else len(pixels)
        return run
    image = pyvips.Image.new_from_buffer(data, "").copy_memory()
    if kind in ("resample", "raw"):
        def run():
            pixels = image.extract_band(0, n=3).resize(int(word) / image.width, kernel="lanczos3").write_to_memory()
            return pixels if kind == "raw" else len(pixels)
        return run
    _, suffix, _, options = FORMATS[word]
    return lambda: len(image.write_to_buffer(suffix, **options))


def psnr(path, width=256):
    """Of the RGB or RGBA bytes on standard input, of luma, against the reduction of a full decode."""
    import numpy
    from PIL import Image
    image = Image.open(path).convert("RGB")
    height = round(image.height * width / image.width)
    given = numpy.frombuffer(sys.stdin.buffer.read(), numpy.uint8)
    pixels = given.reshape(height, width, -1)[..., :3]
    return compared(numpy, pixels, numpy.asarray(image.resize((width, height), Image.LANCZOS)))


def psnr64(path, width):
    """Against Lanczos with three lobes in float64, both ways at once, rounded at the end only."""
    import numpy
    from PIL import Image
    image = numpy.asarray(Image.open(path).convert("RGB"), numpy.float64)
    height = round(image.shape[0] * width / image.shape[1])

    def matrix(size, target):
        scale = size / target
        centers = (numpy.arange(target) + 0.5) * scale
        distance = (numpy.arange(size)[None, :] + 0.5 - centers[:, None]) / max(scale, 1)
        weights = numpy.where(abs(distance) < 3, numpy.sinc(distance) * numpy.sinc(distance / 3), 0)
        return weights / weights.sum(axis=1, keepdims=True)

    down, across = matrix(image.shape[0], height), matrix(image.shape[1], width)
    exact = numpy.clip(numpy.stack([down @ image[..., c] @ across.T for c in range(3)], -1), 0, 255)
    given = numpy.frombuffer(sys.stdin.buffer.read(), numpy.uint8)
    return compared(numpy, given.reshape(height, width, -1)[..., :3], exact)


def compared(numpy, a, b):
    luma = numpy.array([0.299, 0.587, 0.114])
    error = numpy.mean((a.astype(numpy.float64) @ luma - b.astype(numpy.float64) @ luma) ** 2)
    return "%.1f" % (99 if error == 0 else 10 * numpy.log10(255 ** 2 / error))


def main():
    engine, path = sys.argv[1:3]
    if engine == "psnr":
        return print(psnr(path))
    if engine == "psnr64":
        return print(psnr64(path, int(sys.argv[3])))
    operation, seconds = sys.argv[3], float(sys.argv[5])
    run = {"pillow": pillow, "vips": vips}[engine](path, operation)
    if operation.startswith("raw"):
        return sys.stdout.buffer.write(run())
    base = usage().ru_maxrss / 1024
    output = run()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end and len(times) < 60:
        before = usage()
        run()
        after = usage()
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    times.sort()
    print(json.dumps(dict(cpu_ms=times[len(times) // 2] * 1e3, rss_mb=usage().ru_maxrss / 1024, base_mb=base, out=output)))


main()
