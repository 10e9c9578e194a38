#include "Decoder.h"
#include <stdlib.h>
#include <string.h>
#include <jerror.h>

static int kind_of_failure(int code) {
    switch (code) {
    case JERR_OUT_OF_MEMORY:
    case JERR_NO_BACKING_STORE:
        return WI_JPEG_NO_MEMORY;
    case JERR_SOF_UNSUPPORTED:
    case JERR_BAD_PRECISION:
#if JPEG_LIB_VERSION < 70
    case JERR_ARITH_NOTIMPL:
#endif
    case JERR_NOT_COMPILED:
    case JERR_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
    case JERR_COMPONENT_COUNT:
    case JERR_IMAGE_TOO_BIG:
        return WI_JPEG_UNSUPPORTED;
    default:
        return WI_JPEG_CORRUPT;
    }
}

static void fail(j_common_ptr c) {
    wi_jpeg_decoder *d = c->client_data;
    c->err->format_message(c, d->message);
    d->failure = kind_of_failure(c->err->msg_code);
    longjmp(d->failed, 1);
}

/* Warnings are not errors: a file with a few wrong bits is shown. Only the place where the data ended is recorded. */
static void warn(j_common_ptr c, int level) {
    wi_jpeg_decoder *d = c->client_data;
    if (level >= 0 || c->err->msg_code != JWRN_HIT_MARKER || !d->made_up_end || d->ran_out) return;
    d->ran_out = 1;
    d->ran_out_scan = d->c.input_scan_number;
    d->ran_out_row = d->c.input_iMCU_row;
}

static void print(j_common_ptr c) { (void)c; }

wi_jpeg_decoder *wi_jpeg_create(size_t metadata_limit) {
    wi_jpeg_decoder *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->metadata_limit = metadata_limit;
    d->c.err = jpeg_std_error(&d->errors);
    d->errors.error_exit = fail;
    d->errors.emit_message = warn;
    d->errors.output_message = print;
    d->c.client_data = d;
    if (setjmp(d->failed)) {
        jpeg_destroy_decompress(&d->c);
        free(d);
        return NULL;
    }
    jpeg_create_decompress(&d->c);
    wi_jpeg_install_source(d);
    wi_jpeg_install_markers(d);
    return d;
}

void wi_jpeg_destroy(wi_jpeg_decoder *d) {
    if (!d) return;
    jpeg_destroy_decompress(&d->c);
    wi_jpeg_free_metadata(d);
    wi_reduced_scan_destroy(d->reduced);
    wi_progressive_scans_destroy(d->progressive);
    free(d->kept);
    free(d->cmyk);
    free(d);
}

static int is_cmyk(const wi_jpeg_decoder *d) {
    return d->c.jpeg_color_space == JCS_CMYK || d->c.jpeg_color_space == JCS_YCCK;
}

static void note_components(wi_jpeg_decoder *d) {
    for (int index = 0; index < d->c.comps_in_scan; index++)
        d->seen_components |= UINT32_C(1) << (d->c.cur_comp_info[index]->component_index & 31);
}

int wi_jpeg_read_header(wi_jpeg_decoder *d, wi_jpeg_info *info) {
    if (setjmp(d->failed)) return d->failure;
    if (jpeg_read_header(&d->c, TRUE) == JPEG_SUSPENDED) return WI_JPEG_NEEDS_BYTES;
    note_components(d);
    d->is_progressive = d->c.progressive_mode;
    d->is_arithmetic = d->c.arith_code;
    info->width = d->c.image_width;
    info->height = d->c.image_height;
    info->progressive = d->c.progressive_mode;
    info->multiple_scans = jpeg_has_multiple_scans(&d->c);
    info->arithmetic = d->c.arith_code;
    info->density_unit = d->c.saw_JFIF_marker ? d->c.density_unit : 0;
    info->density_x = d->c.X_density;
    info->density_y = d->c.Y_density;
    info->has_inks = is_cmyk(d);
    info->is_reducible = wi_reduced_scan_takes(&d->c) || wi_progressive_scans_takes(&d->c);
    info->is_gray = d->c.jpeg_color_space == JCS_GRAYSCALE;
    return WI_JPEG_READY;
}

void wi_jpeg_keep_inks(wi_jpeg_decoder *d) { d->keeps_inks = 1; }

/* Starts one of our readers for smaller sizes, if one can read the file. Returns whether it does, so that libjpeg has no more to
   do. */
static int start_reduced(wi_jpeg_decoder *d, int denominator) {
    if (d->reduced || d->progressive) return 1;
    int is_one_scan = wi_reduced_scan_takes(&d->c);
    if (!is_one_scan && !wi_progressive_scans_takes(&d->c)) return 0;
    jpeg_calc_output_dimensions(&d->c);
    if (is_one_scan) d->reduced = wi_reduced_scan_create(&d->c, denominator);
    else d->progressive = wi_progressive_scans_create(&d->c, denominator);
    return d->reduced || d->progressive;
}

int wi_jpeg_start(wi_jpeg_decoder *d, int denominator, uint32_t *width, uint32_t *height) {
    if (setjmp(d->failed)) return d->failure;
    d->c.out_color_space = is_cmyk(d) ? JCS_CMYK : JCS_EXT_RGBA;
    d->c.scale_num = 1;
    d->c.scale_denom = (unsigned)denominator;
    d->c.buffered_image = jpeg_has_multiple_scans(&d->c);
    if (denominator > 1 && start_reduced(d, denominator)) {
        *width = d->c.output_width;
        *height = d->c.output_height;
        return WI_JPEG_READY;
    }
    if (!jpeg_start_decompress(&d->c)) return WI_JPEG_NEEDS_BYTES;
    if (is_cmyk(d) && !d->cmyk && !(d->cmyk = malloc((size_t)d->c.output_width * 4))) return WI_JPEG_NO_MEMORY;
    *width = d->c.output_width;
    *height = d->c.output_height;
    return WI_JPEG_READY;
}

/* Inks are stored inverted, 255 for none. Adobe's programs do so, and everybody follows: browsers, Pillow, libvips and FFmpeg do
   not check whether Adobe's marker is there. */
static void convert_cmyk(const uint8_t *cmyk, uint8_t *rgba, uint32_t width) {
    for (size_t x = 0; x < width; x++, cmyk += 4, rgba += 4) {
        unsigned white = cmyk[3];
        for (int channel = 0; channel < 3; channel++) rgba[channel] = (uint8_t)((cmyk[channel] * white + 127) / 255);
        rgba[3] = 255;
    }
}

static void copy_inks(const uint8_t *cmyk, uint8_t *inks, uint32_t width) {
    for (size_t index = 0; index < (size_t)width * 4; index++) inks[index] = (uint8_t)(255 - cmyk[index]);
}

/* Converts inks from libjpeg to the requested form. Input and output may be the same memory. */
static void put_inks(const wi_jpeg_decoder *d, const uint8_t *cmyk, uint8_t *row) {
    (d->keeps_inks ? copy_inks : convert_cmyk)(cmyk, row, d->c.output_width);
}

static int read_reduced(wi_jpeg_decoder *d, uint8_t *rows, size_t stride, uint32_t count, uint32_t *done) {
    int result = 1;
    if (d->progressive) {
        *done = wi_progressive_scans_read(d->progressive, rows, stride, count);
    } else {
        result = wi_reduced_scan_read(d->reduced, &d->source, d->ended, rows, stride, count, done);
        d->ran_out = result < 0;
    }
    for (uint32_t row = 0; row < *done && is_cmyk(d); row++) put_inks(d, rows + row * stride, rows + row * stride);
    return result == 0 ? WI_JPEG_NEEDS_BYTES : WI_JPEG_READY;
}

int wi_jpeg_read_rows(wi_jpeg_decoder *d, uint8_t *rows, size_t stride, uint32_t count, uint32_t *done) {
    *done = 0;
    if (d->reduced || d->progressive) return read_reduced(d, rows, stride, count, done);
    if (setjmp(d->failed)) return d->failure;
    while (*done < count && d->c.output_scanline < d->c.output_height) {
        JSAMPROW wanted[16];
        uint32_t ask = 0;
        if (d->cmyk) {
            wanted[ask++] = d->cmyk;
        } else {
            for (; ask < 16 && *done + ask < count; ask++) wanted[ask] = rows + stride * (*done + ask);
        }
        JDIMENSION got = jpeg_read_scanlines(&d->c, wanted, ask);
        if (got == 0) return WI_JPEG_NEEDS_BYTES;
        if (d->cmyk) put_inks(d, d->cmyk, rows + stride * *done);
        *done += got;
    }
    return WI_JPEG_READY;
}

int wi_jpeg_consume(wi_jpeg_decoder *d, int steps) {
    if (setjmp(d->failed)) return d->failure;
    if (d->progressive) {
        int result = wi_progressive_scans_consume(d->progressive, &d->c, d->ended, steps);
        d->ran_out = wi_progressive_scans_ran_out(d->progressive, &d->ran_out_scan, &d->ran_out_row);
        return result;
    }
    for (; steps > 0; steps--) {
        int result = jpeg_consume_input(&d->c);
        if (result == JPEG_REACHED_EOI) return WI_JPEG_READY;
        if (result == JPEG_REACHED_SOS) note_components(d);
        if (result == JPEG_SUSPENDED) {
            /* A second frame header is an error, but libjpeg changes these fields before it has read enough of the header to
               report that. */
            d->c.progressive_mode = d->is_progressive;
            d->c.arith_code = d->is_arithmetic;
            if (!d->ended || d->c.unread_marker == 0) return WI_JPEG_NEEDS_BYTES;
            /* The file ends within a marker: skip it, and look for the next, which is the made-up end. */
            d->c.unread_marker = 0;
            d->source.bytes_in_buffer = 0;
        }
    }
    return WI_JPEG_MORE;
}

int wi_jpeg_scan(wi_jpeg_decoder *d) { return d->c.input_scan_number; }

int wi_jpeg_start_output(wi_jpeg_decoder *d, int is_final) {
    if (setjmp(d->failed)) return d->failure;
    if (d->progressive) {
        wi_progressive_scans_start_output(d->progressive);
        return WI_JPEG_READY;
    }
    /* An output scan before the one that is being read never waits, and shows all coefficients that have arrived. */
    int scan = d->c.input_scan_number - (is_final ? 0 : 1);
    return jpeg_start_output(&d->c, scan) ? WI_JPEG_READY : WI_JPEG_NEEDS_BYTES;
}

int wi_jpeg_finish_output(wi_jpeg_decoder *d) {
    if (d->progressive) return WI_JPEG_READY;
    if (setjmp(d->failed)) return d->failure;
    return jpeg_finish_output(&d->c) ? WI_JPEG_READY : WI_JPEG_NEEDS_BYTES;
}

int wi_jpeg_ran_out(wi_jpeg_decoder *d) { return d->ran_out; }

/* libjpeg-turbo can be built with the structures of libjpeg 6b, as Debian does, or of 7 and 8, as Ubuntu does, in which blocks may
   be scaled differently across and down. */
static int block_height(const wi_jpeg_decoder *d) {
#if JPEG_LIB_VERSION >= 70
    return d->c.min_DCT_v_scaled_size;
#else
    return d->c.min_DCT_scaled_size;
#endif
}

uint32_t wi_jpeg_known_rows(wi_jpeg_decoder *d) {
    if (!d->ran_out || d->ran_out_scan > 1) return d->c.output_height;
    /* The last rows above the missing ones are smoothed with those below them. */
    /* Our own reader of scans counts a lone component in single blocks, whatever its sampling factor is. */
    int factor = d->progressive && d->c.num_components == 1 ? 1 : d->c.max_v_samp_factor;
    uint32_t block = (uint32_t)(factor * block_height(d));
    uint64_t rows = (uint64_t)d->ran_out_row * block;
    rows = rows > (uint32_t)d->c.max_v_samp_factor ? rows - (uint32_t)d->c.max_v_samp_factor : 0;
    return rows < d->c.output_height ? (uint32_t)rows : d->c.output_height;
}

int wi_jpeg_is_exact(wi_jpeg_decoder *d) {
    if (d->ran_out) return 0;
    if (d->progressive) return wi_progressive_scans_are_exact(d->progressive);
    if (!d->is_progressive) return d->seen_components == (UINT32_C(1) << d->c.num_components) - 1;
    for (int component = 0; component < d->c.num_components; component++)
        for (int coefficient = 0; coefficient < DCTSIZE2; coefficient++)
            if (d->c.coef_bits[component][coefficient] != 0) return 0;
    return 1;
}

const char *wi_jpeg_message(wi_jpeg_decoder *d) { return d->message; }
