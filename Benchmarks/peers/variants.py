"""Makes less usual variants of the pictures in DATA: gray, palette, alpha and 16 bits. Usage: variants.py DATA"""
import os
import sys

import numpy
from PIL import Image

folder = sys.argv[1]
photo = Image.open(f"{folder}/p4.png").convert("RGB")
width, height = photo.size
# Opaque in the middle, and more transparent towards the sides.
alpha = Image.fromarray(numpy.tile(
    (255 - numpy.abs(numpy.linspace(-255, 255, width))).astype("uint8"), (height, 1)))
clear = photo.copy()
clear.putalpha(alpha)
wanted = {
    "p4-gray.png": lambda path: photo.convert("L").save(path),
    "p4-palette.png": lambda path: photo.quantize(256).save(path),
    "p4-alpha.png": lambda path: clear.save(path),
    "p4-gray.jpg": lambda path: photo.convert("L").save(path, quality=85),
    "p4-alpha.webp": lambda path: clear.save(path, quality=80),
    "p4-gray16.png": lambda path: Image.fromarray(
        numpy.asarray(photo.convert("L")).astype("uint16") * 257).save(path),
}
for name, save in wanted.items():
    if not os.path.exists(f"{folder}/{name}"):
        save(f"{folder}/{name}")
