#include "CBench.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>
#include <png.h>

size_t cb_encode_jpeg(const uint8_t *pixels, int width, int height, int quality) {
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned char *output = NULL;
    unsigned long count = 0;
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &output, &count);
    c.image_width = (JDIMENSION)width;
    c.image_height = (JDIMENSION)height;
    c.input_components = 4;
    c.in_color_space = JCS_EXT_RGBX;
    jpeg_set_defaults(&c);
    jpeg_set_quality(&c, quality, TRUE);
    c.optimize_coding = TRUE;
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < c.image_height) {
        JSAMPROW row = (JSAMPROW)pixels + (size_t)width * 4 * c.next_scanline;
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    free(output);
    return count;
}

static void png_give(png_structp png, png_bytep bytes, size_t count) {
    (void)bytes;
    *(size_t *)png_get_io_ptr(png) += count;
}

static void png_rest(png_structp png) { (void)png; }

size_t cb_encode_png(const uint8_t *pixels, int width, int height, int level) {
    size_t count = 0;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) return 0;
    if (setjmp(png_jmpbuf(png)) == 0) {
        png_set_write_fn(png, &count, png_give, png_rest);
        png_set_compression_level(png, level);
        png_set_IHDR(
            png, info, (png_uint_32)width, (png_uint_32)height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
            PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        png_write_info(png, info);
        png_set_filler(png, 0, PNG_FILLER_AFTER);
        for (int y = 0; y < height; y++) png_write_row(png, pixels + (size_t)width * 4 * (size_t)y);
        png_write_end(png, NULL);
    }
    png_destroy_write_struct(&png, &info);
    return count;
}
