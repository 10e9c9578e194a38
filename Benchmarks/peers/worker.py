"""Measures a peer for one cell of compare.py: worker.py pillow|vips|opencv FILE OPERATION MODE SECONDS prints one JSON line, as
`webimage-bench work` does. The operations `raw` and `raw-WIDTH` write the RGB bytes of a reduction instead. Only the measured
engine is imported."""
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
    if kind == "do":
        run = pillow_chain(word, image)
        return lambda: run().size[0]
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
    # All frames of an animation, as in our measurement.
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
    if kind == "do":
        run = vips_chain(word, image)
        return lambda: len(run())
    if kind in ("resample", "raw"):
        def run():
            pixels = image.extract_band(0, n=3).resize(int(word) / image.width, kernel="lanczos3").write_to_memory()
            return pixels if kind == "raw" else len(pixels)
        return run
    _, suffix, _, options = FORMATS[word]
    return lambda: len(image.write_to_buffer(suffix, **options))


def mark(numpy):
    """The picture that the overlays draw, the same as in TransformWork."""
    pixels = numpy.full((750, 1000, 4), 128, numpy.uint8)
    pixels[..., 0] = 255
    pixels[..., 3] = numpy.arange(1000) * 255 // 999
    return pixels


SEPIA = [[0.393 + 0.607 * 0.8, 0.769 - 0.769 * 0.8, 0.189 - 0.189 * 0.8],
         [0.349 - 0.349 * 0.8, 0.686 + 0.314 * 0.8, 0.168 - 0.168 * 0.8],
         [0.272 - 0.272 * 0.8, 0.534 - 0.534 * 0.8, 0.131 + 0.869 * 0.8]]


def pillow_chain(name, image):
    """The chains of TransformWork with Pillow."""
    import numpy
    from PIL import Image, ImageDraw, ImageEnhance, ImageFilter

    def rounded(image, radius):
        # Pillow draws no smooth corners, so that they are drawn four times as large and reduced.
        corner = Image.new("L", (4 * radius, 4 * radius), 0)
        ImageDraw.Draw(corner).ellipse((0, 0, 8 * radius - 1, 8 * radius - 1), fill=255)
        corner = corner.resize((radius, radius), Image.BOX)
        mask = Image.new("L", image.size, 255)
        right, low = image.width - radius, image.height - radius
        mask.paste(corner, (0, 0))
        mask.paste(corner.transpose(Image.FLIP_LEFT_RIGHT), (right, 0))
        mask.paste(corner.transpose(Image.FLIP_TOP_BOTTOM), (0, low))
        mask.paste(corner.transpose(Image.ROTATE_180), (right, low))
        image = image.convert("RGBA")
        image.putalpha(mask)
        return image

    def points(image):
        table = [min(255, max(0, round((v / 255 - 0.5) * 1.2 * 255 + 127.5))) for v in range(256)]
        image = image.point(table * 3)
        image = image.point([min(255, round(v + 25.5)) for v in range(256)] * 3)
        image = ImageEnhance.Color(image).enhance(1.3)
        image = image.convert("RGB", [v for row in SEPIA for v in (*row, 0)])
        return image.point([round(255 * (v / 255) ** (1 / 1.1)) for v in range(256)] * 3)

    over = Image.fromarray(mark(numpy)) if name == "overlay" else None

    def run():
        if name.startswith("blur"):
            return image.filter(ImageFilter.GaussianBlur(int(name[4:])))
        if name == "sharpen":
            return image.filter(ImageFilter.UnsharpMask(1.5, 100, 0))
        if name == "resize":
            return image.resize((1000, 750), Image.LANCZOS)
        if name == "round":
            return rounded(image, 200)
        if name == "overlay":
            result = image.copy()
            result.paste(over, (image.width - 1020, image.height - 770), over)
            return result
        if name == "rotate":
            return image.convert("RGBA").rotate(-10, Image.BICUBIC, expand=True)
        if name == "point1":
            return image.point([min(255, max(0, round((v / 255 - 0.5) * 1.2 * 255 + 127.5))) for v in range(256)] * 3)
        if name == "point5":
            return points(image)
        small = image.resize((1000, 750), Image.LANCZOS).filter(ImageFilter.UnsharpMask(1, 100, 0))
        return rounded(ImageEnhance.Contrast(ImageEnhance.Color(small).enhance(1.2)).enhance(1.1), 40)
    return run


def vips_chain(name, image):
    """The chains of TransformWork with libvips, each in one pipeline."""
    import numpy
    import pyvips
    over = pyvips.Image.new_from_array(mark(numpy)).copy(interpretation="srgb") if name == "overlay" else None
    sepia = pyvips.Image.new_from_array(SEPIA)

    def rounded(image, radius):
        svg = (f'<svg viewBox="0 0 {image.width} {image.height}"><rect width="{image.width}" height="{image.height}" '
               f'rx="{radius}" ry="{radius}" fill="#fff"/></svg>')
        return image.bandjoin(pyvips.Image.svgload_buffer(svg.encode()).extract_band(3))

    def saturated(image, factor):
        lch = image.colourspace("lch")
        return (lch * [1, factor, 1]).copy(interpretation="lch").colourspace("srgb")

    def run():
        if name.startswith("blur"):
            return image.gaussblur(int(name[4:]), min_ampl=0.01)
        if name == "sharpen":
            return image.sharpen(sigma=1.5)
        if name == "resize":
            return image.resize(1000 / image.width, kernel="lanczos3")
        if name == "round":
            return rounded(image, 200)
        if name == "overlay":
            return image.composite2(over, "over", x=image.width - 1020, y=image.height - 770)
        if name == "rotate":
            return image.addalpha().premultiply().rotate(10, interpolate=pyvips.Interpolate.new("bicubic")).unpremultiply()
        if name == "point1":
            return (image * 1.2 + 127.5 * -0.2).cast("uchar")
        if name == "point5":
            bright = saturated((image * 1.2 + (127.5 * -0.2 + 25.5)).cast("uchar"), 1.3)
            return bright.recomb(sepia).gamma(exponent=1.1).cast("uchar")
        small = image.resize(1000 / image.width, kernel="lanczos3").sharpen(sigma=1)
        return rounded((saturated(small, 1.2) * 1.1 + 127.5 * -0.1).cast("uchar"), 40)
    return lambda: run().write_to_memory()


def opencv(path, operation):
    import cv2
    import numpy
    cv2.setNumThreads(1)
    image = cv2.imread(path)
    name = operation.partition("-")[2]
    over = mark(numpy) if name == "overlay" else None

    def rounded(image, radius):
        corner = numpy.zeros((4 * radius, 4 * radius), numpy.uint8)
        cv2.circle(corner, (4 * radius, 4 * radius), 4 * radius, 255, -1)
        corner = cv2.resize(corner, (radius, radius), interpolation=cv2.INTER_AREA)
        result = cv2.cvtColor(image, cv2.COLOR_BGR2BGRA)
        result[:radius, :radius, 3] = corner
        result[:radius, -radius:, 3] = corner[:, ::-1]
        result[-radius:, :radius, 3] = corner[::-1]
        result[-radius:, -radius:, 3] = corner[::-1, ::-1]
        return result

    def saturation(image, s):
        weights = numpy.array([0.0722, 0.7152, 0.2126])
        return cv2.transform(image, (1 - s) * numpy.tile(weights, (3, 1)) + s * numpy.eye(3))

    def table(change):
        return numpy.array([min(255, max(0, round(change(v)))) for v in range(256)], numpy.uint8)

    def run():
        if name.startswith("blur"):
            return cv2.GaussianBlur(image, (0, 0), int(name[4:]))
        if name == "sharpen":
            return cv2.addWeighted(image, 2, cv2.GaussianBlur(image, (0, 0), 1.5), -1, 0)
        if name == "resize":
            # INTER_AREA does not alias; OpenCV's Lanczos does.
            return cv2.resize(image, (1000, 750), interpolation=cv2.INTER_AREA)
        if name == "round":
            return rounded(image, 200)
        if name == "overlay":
            result = image.copy()
            part = result[-770:-20, -1020:-20]
            alpha = over[..., 3:].astype(numpy.float32) / 255
            part[...] = part * (1 - alpha) + over[..., 2::-1] * alpha + 0.5
            return result
        if name == "rotate":
            height, width = image.shape[:2]
            c, s = numpy.cos(numpy.pi / 18), numpy.sin(numpy.pi / 18)
            size = (int(numpy.ceil(width * c + height * s)), int(numpy.ceil(width * s + height * c)))
            matrix = cv2.getRotationMatrix2D((width / 2, height / 2), -10, 1)
            matrix[:, 2] += (size[0] - width) / 2, (size[1] - height) / 2
            return cv2.warpAffine(cv2.cvtColor(image, cv2.COLOR_BGR2BGRA), matrix, size, flags=cv2.INTER_CUBIC)
        if name == "point1":
            return cv2.LUT(image, table(lambda v: (v / 255 - 0.5) * 1.2 * 255 + 127.5))
        if name == "point5":
            result = cv2.LUT(image, table(lambda v: min(255, max(0, (v / 255 - 0.5) * 1.2 * 255 + 127.5)) + 25.5))
            result = cv2.transform(saturation(result, 1.3), numpy.array(SEPIA)[::-1, ::-1].copy())
            return cv2.LUT(result, table(lambda v: 255 * (v / 255) ** (1 / 1.1)))
        small = cv2.resize(image, (1000, 750), interpolation=cv2.INTER_AREA)
        small = cv2.addWeighted(small, 2, cv2.GaussianBlur(small, (0, 0), 1), -1, 0)
        return rounded(cv2.LUT(saturation(small, 1.2), table(lambda v: (v / 255 - 0.5) * 1.1 * 255 + 127.5)), 40)
    return lambda: run().size


def psnr(path, width=256):
    """The PSNR of the luma of the RGB or RGBA bytes on standard input, against the reduction of a full decode."""
    import numpy
    from PIL import Image
    image = Image.open(path).convert("RGB")
    height = round(image.height * width / image.width)
    given = numpy.frombuffer(sys.stdin.buffer.read(), numpy.uint8)
    pixels = given.reshape(height, width, -1)[..., :3]
    return compared(numpy, pixels, numpy.asarray(image.resize((width, height), Image.LANCZOS)))


def psnr64(path, width):
    """The PSNR against Lanczos with three lobes in float64, in both directions at once, rounded only at the end."""
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
    run = {"pillow": pillow, "vips": vips, "opencv": opencv}[engine](path, operation)
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
