#include "CShimJPEG.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>
#include <jerror.h>

typedef struct {
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    jmp_buf failed;
    wi_jpeg_output *output;
    size_t capacity;
    int failure;
} encoder;

static void fail(j_common_ptr c) {
    encoder *e = c->client_data;
    char message[JMSG_LENGTH_MAX];
    c->err->format_message(c, message);
    snprintf(e->output->message, sizeof e->output->message, "%s", message);
    e->failure = c->err->msg_code == JERR_OUT_OF_MEMORY ? WI_JPEG_NO_MEMORY : WI_JPEG_UNSUPPORTED;
    longjmp(e->failed, 1);
}

static void warn(j_common_ptr c, int level) { (void)c, (void)level; }
static void print(j_common_ptr c) { (void)c; }

static void begin(j_compress_ptr c) { (void)c; }

/* Called when the buffer is full. libjpeg's counters are not valid then: the whole buffer counts as written. */
static boolean grow(j_compress_ptr c) {
    encoder *e = c->client_data;
    size_t used = e->capacity, capacity = used ? used * 2 : 64 << 10;
    uint8_t *bigger = realloc(e->output->bytes, capacity);
    if (!bigger) ERREXIT1(c, JERR_OUT_OF_MEMORY, 0);
    e->output->bytes = bigger;
    e->capacity = capacity;
    e->destination.next_output_byte = bigger + used;
    e->destination.free_in_buffer = capacity - used;
    return TRUE;
}

static void finish(j_compress_ptr c) {
    encoder *e = c->client_data;
    e->output->count = e->capacity - e->destination.free_in_buffer;
}

/* The nearest of 256 levels. */
static uint8_t byte(uint32_t value) { return (uint8_t)((value * 255 + 32895) >> 16); }

/* Makes one row of RGBX, composited over the background where it is not opaque. */
static void flatten(const wi_jpeg_picture *p, const uint8_t *row, uint8_t *out) {
    unsigned limit = p->is_16_bit ? 65535 : 255;
    for (size_t x = 0; x < p->width; x++, out += 4) {
        unsigned pixel[4];
        for (int channel = 0; channel < 4; channel++) {
            if (p->is_16_bit) {
                uint16_t value;
                memcpy(&value, row + (x * 4 + (size_t)channel) * 2, 2);
                pixel[channel] = value;
            } else {
                pixel[channel] = row[x * 4 + (size_t)channel];
            }
        }
        unsigned alpha = p->alpha == 0 ? limit : pixel[3];
        for (int channel = 0; channel < 3; channel++) {
            if (alpha == limit) {
                out[channel] = p->is_16_bit ? byte(pixel[channel]) : (uint8_t)pixel[channel];
                continue;
            }
            uint64_t own = p->alpha == 1 ? (uint64_t)pixel[channel] * alpha : (uint64_t)pixel[channel] * limit;
            uint64_t under = (uint64_t)p->background[channel] * (limit / 255) * (limit - alpha);
            uint64_t value = (own + under + limit / 2) / limit;
            if (value > limit) value = limit;
            out[channel] = p->is_16_bit ? byte((uint32_t)value) : (uint8_t)value;
        }
        out[3] = 255;
    }
}

static void configure(encoder *e, const wi_jpeg_picture *p) {
    e->c.image_width = p->width;
    e->c.image_height = p->height;
    e->c.input_components = 4;
    e->c.in_color_space = JCS_EXT_RGBX;
    jpeg_set_defaults(&e->c);
    jpeg_set_quality(&e->c, p->quality, TRUE);
    e->c.optimize_coding = p->usual_codes ? FALSE : TRUE;
    if (p->is_gray) {
        /* The weights of red, green and blue add up to one, so a gray keeps its value. */
        jpeg_set_colorspace(&e->c, JCS_GRAYSCALE);
    } else {
        e->c.comp_info[0].h_samp_factor = p->chroma_columns;
        e->c.comp_info[0].v_samp_factor = p->chroma_rows;
    }
    if (p->density_x && p->density_y) {
        e->c.density_unit = 1;
        e->c.X_density = p->density_x;
        e->c.Y_density = p->density_y;
    }
    if (p->progressive) jpeg_simple_progression(&e->c);
}

/* Writes a marker with a block that begins with `name`, including its terminating zero. */
static void write_block(encoder *e, int marker, const char *name, size_t length, const uint8_t *bytes, size_t count) {
    jpeg_write_m_header(&e->c, marker, (unsigned)(length + count));
    for (size_t index = 0; index < length; index++) jpeg_write_m_byte(&e->c, name[index]);
    for (size_t index = 0; index < count; index++) jpeg_write_m_byte(&e->c, bytes[index]);
}

static void write_number(encoder *e, size_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) jpeg_write_m_byte(&e->c, (int)(value >> shift & 255));
}

/* XMP specification part 3, 1.1.3.1. */
static void write_extended_xmp(encoder *e, const uint8_t *name, const uint8_t *bytes, size_t count) {
    static const char mark[] = "http://ns.adobe.com/xmp/extension/";
    const size_t head = sizeof mark + WI_JPEG_XMP_NAME + 8, most = 65400;
    for (size_t offset = 0; offset < count; offset += most) {
        size_t length = count - offset < most ? count - offset : most;
        jpeg_write_m_header(&e->c, JPEG_APP0 + 1, (unsigned)(head + length));
        for (size_t index = 0; index < sizeof mark; index++) jpeg_write_m_byte(&e->c, mark[index]);
        for (size_t index = 0; index < WI_JPEG_XMP_NAME; index++) jpeg_write_m_byte(&e->c, name[index]);
        write_number(e, count);
        write_number(e, offset);
        for (size_t index = 0; index < length; index++) jpeg_write_m_byte(&e->c, bytes[offset + index]);
    }
}

static void write_metadata(encoder *e, const wi_jpeg_picture *p) {
    if (p->exif && p->exif_count && p->exif_count <= WI_JPEG_LONGEST_EXIF)
        write_block(e, JPEG_APP0 + 1, "Exif\0", 6, p->exif, p->exif_count);
    if (p->xmp && p->xmp_count && p->xmp_count <= WI_JPEG_LONGEST_XMP)
        write_block(e, JPEG_APP0 + 1, "http://ns.adobe.com/xap/1.0/", 29, p->xmp, p->xmp_count);
    if (p->extended_xmp && p->extended_xmp_count > WI_JPEG_XMP_NAME) {
        write_extended_xmp(
            e, p->extended_xmp, p->extended_xmp + WI_JPEG_XMP_NAME, p->extended_xmp_count - WI_JPEG_XMP_NAME);
    }
    if (p->photoshop && p->photoshop_count && p->photoshop_count <= WI_JPEG_LONGEST_PHOTOSHOP)
        write_block(e, JPEG_APP0 + 13, "Photoshop 3.0", 14, p->photoshop, p->photoshop_count);
    if (p->icc && p->icc_count) jpeg_write_icc_profile(&e->c, p->icc, (unsigned)p->icc_count);
}

static void write_rows(encoder *e, const wi_jpeg_picture *p, uint8_t *row) {
    while (e->c.next_scanline < e->c.image_height) {
        const uint8_t *source = p->pixels + p->stride * e->c.next_scanline;
        if (row) flatten(p, source, row);
        JSAMPROW rows[1] = {row ? row : (uint8_t *)source};
        jpeg_write_scanlines(&e->c, rows, 1);
    }
}

int wi_jpeg_encode(const wi_jpeg_picture *p, wi_jpeg_output *output) {
    memset(output, 0, sizeof *output);
    encoder *e = calloc(1, sizeof *e);
    int needs_row = p->is_16_bit || p->alpha != 0;
    uint8_t *row = needs_row ? malloc((size_t)p->width * 4) : NULL;
    if (!e || (needs_row && !row)) {
        free(e);
        free(row);
        return WI_JPEG_NO_MEMORY;
    }
    e->output = output;
    e->c.err = jpeg_std_error(&e->errors);
    e->errors.error_exit = fail;
    e->errors.emit_message = warn;
    e->errors.output_message = print;
    e->c.client_data = e;
    int result = WI_JPEG_READY;
    if (setjmp(e->failed)) {
        result = e->failure;
        free(output->bytes);
        output->bytes = NULL;
    } else {
        jpeg_create_compress(&e->c);
        e->destination.init_destination = begin;
        e->destination.empty_output_buffer = grow;
        e->destination.term_destination = finish;
        e->c.dest = &e->destination;
        grow(&e->c);
        configure(e, p);
        jpeg_start_compress(&e->c, TRUE);
        write_metadata(e, p);
        write_rows(e, p, row);
        jpeg_finish_compress(&e->c);
    }
    jpeg_destroy_compress(&e->c);
    free(row);
    free(e);
    return result;
}

void wi_jpeg_free(wi_jpeg_output *output) {
    free(output->bytes);
    output->bytes = NULL;
}
