#define _GNU_SOURCE
#include "CBench.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <jpeglib.h>
#include <png.h>

uint64_t cb_checksum(const uint8_t *pixels, size_t count) {
    uint64_t sum = UINT64_C(14695981039346656037);
    for (size_t index = 0; index < count; index += 4093) sum = (sum ^ pixels[index]) * UINT64_C(1099511628211);
    return sum ? sum : 1;
}

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

uint64_t cb_thread_cpu_nanoseconds(void) { return nanoseconds(CLOCK_THREAD_CPUTIME_ID); }
uint64_t cb_process_cpu_nanoseconds(void) { return nanoseconds(CLOCK_PROCESS_CPUTIME_ID); }

typedef struct {
    struct jpeg_error_mgr errors;
    jmp_buf failed;
} jpeg_errors;

static void jpeg_fail(j_common_ptr c) { longjmp(((jpeg_errors *)c->err)->failed, 1); }

uint64_t cb_decode_jpeg(const uint8_t *bytes, size_t count, int *width, int *height) {
    struct jpeg_decompress_struct c;
    jpeg_errors errors;
    uint8_t *volatile pixels = NULL;
    volatile uint64_t sum = 0;
    c.err = jpeg_std_error(&errors.errors);
    errors.errors.error_exit = jpeg_fail;
    if (setjmp(errors.failed) == 0) {
        jpeg_create_decompress(&c);
        jpeg_mem_src(&c, bytes, count);
        jpeg_read_header(&c, TRUE);
        c.out_color_space = JCS_EXT_RGBA;
        jpeg_start_decompress(&c);
        size_t stride = (size_t)c.output_width * 4;
        pixels = malloc(stride * c.output_height);
        while (pixels && c.output_scanline < c.output_height) {
            JSAMPROW row = pixels + stride * c.output_scanline;
            jpeg_read_scanlines(&c, &row, 1);
        }
        jpeg_finish_decompress(&c);
        *width = (int)c.output_width;
        *height = (int)c.output_height;
        if (pixels) sum = cb_checksum(pixels, stride * c.output_height);
    }
    jpeg_destroy_decompress(&c);
    free(pixels);
    return sum;
}

typedef struct {
    const uint8_t *bytes;
    size_t count;
} png_input;

static void png_take(png_structp png, png_bytep into, size_t count) {
    png_input *input = png_get_io_ptr(png);
    if (count > input->count) png_error(png, "too short");
    memcpy(into, input->bytes, count);
    input->bytes += count;
    input->count -= count;
}

uint64_t cb_decode_png(const uint8_t *bytes, size_t count, int *width, int *height) {
    png_input input = {bytes, count};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) return 0;
    uint8_t *volatile pixels = NULL;
    volatile uint64_t sum = 0;
    if (setjmp(png_jmpbuf(png)) == 0) {
        png_set_read_fn(png, &input, png_take);
        png_read_info(png, info);
        png_set_expand(png);
        png_set_strip_16(png);
        png_set_gray_to_rgb(png);
        png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
        int passes = png_set_interlace_handling(png);
        png_read_update_info(png, info);
        size_t stride = png_get_rowbytes(png, info), rows = png_get_image_height(png, info);
        pixels = malloc(stride * rows);
        if (!pixels) png_error(png, "no memory");
        for (int pass = 0; pass < passes; pass++)
            for (size_t y = 0; y < rows; y++) png_read_row(png, pixels + stride * y, NULL);
        png_read_end(png, NULL);
        *width = (int)png_get_image_width(png, info);
        *height = (int)rows;
        sum = cb_checksum(pixels, stride * rows);
    }
    png_destroy_read_struct(&png, &info, NULL);
    free(pixels);
    return sum;
}
