#include "Decoder.h"
#include <stdlib.h>
#include <string.h>

static uint8_t *copy_of(const uint8_t *bytes, size_t count) {
    uint8_t *copy = malloc(count ? count : 1);
    if (copy && count) memcpy(copy, bytes, count);
    return copy;
}

static void take_exif(wi_jpeg_decoder *d, const uint8_t *bytes, size_t count) {
    if (d->exif || count < 6 || count - 6 > d->metadata_limit || memcmp(bytes, "Exif\0", 5) != 0) return;
    d->exif = copy_of(bytes + 6, count - 6);
    d->exif_count = d->exif ? count - 6 : 0;
}

/* XMP specification part 3, 1.1.3. */
static void take_xmp(wi_jpeg_decoder *d, const uint8_t *bytes, size_t count) {
    static const char name[] = "http://ns.adobe.com/xap/1.0/";
    if (d->xmp || count <= sizeof name || count - sizeof name > d->metadata_limit) return;
    if (memcmp(bytes, name, sizeof name) != 0) return;
    d->xmp = copy_of(bytes + sizeof name, count - sizeof name);
    d->xmp_count = d->xmp ? count - sizeof name : 0;
}

static uint32_t number(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* XMP specification part 3, 1.1.3.1: a packet that does not fit into one block comes in pieces, each with the name and length of
   the packet, and its own position in it. */
static void take_extended_xmp(wi_jpeg_decoder *d, const uint8_t *bytes, size_t count) {
    static const char mark[] = "http://ns.adobe.com/xmp/extension/";
    size_t head = sizeof mark + WI_JPEG_XMP_NAME + 8;
    if (count <= head || memcmp(bytes, mark, sizeof mark) != 0) return;
    const uint8_t *name = bytes + sizeof mark;
    size_t total = number(name + WI_JPEG_XMP_NAME), offset = number(name + WI_JPEG_XMP_NAME + 4);
    size_t length = count - head;
    if (!d->extended_xmp) {
        if (total > d->metadata_limit || !(d->extended_xmp = calloc(1, total ? total : 1))) return;
        d->extended_count = total;
        memcpy(d->extended_name, name, WI_JPEG_XMP_NAME);
    }
    if (memcmp(d->extended_name, name, WI_JPEG_XMP_NAME) != 0) return;
    if (total != d->extended_count || offset > total || length > total - offset) return;
    memcpy(d->extended_xmp + offset, bytes + head, length);
    d->extended_there += length;
}

/* Image resources of Photoshop. If they do not fit into one block, they continue in the next one. */
static void take_photoshop(wi_jpeg_decoder *d, const uint8_t *bytes, size_t count) {
    static const char mark[] = "Photoshop 3.0";
    if (count <= sizeof mark || memcmp(bytes, mark, sizeof mark) != 0) return;
    count -= sizeof mark;
    if (count > d->metadata_limit - d->photoshop_count) return;
    uint8_t *all = realloc(d->photoshop, d->photoshop_count + count);
    if (!all) return;
    memcpy(all + d->photoshop_count, bytes + sizeof mark, count);
    d->photoshop = all;
    d->photoshop_count += count;
}

/* ICC.1:2010, annex B.4: a profile comes in numbered pieces. */
static void take_icc(wi_jpeg_decoder *d, const uint8_t *bytes, size_t count) {
    if (count < 14 || memcmp(bytes, "ICC_PROFILE", 12) != 0 || d->icc_broken) return;
    int number = bytes[12], pieces = bytes[13];
    if (number == 0 || number > pieces || d->icc[number] || (d->icc_pieces && d->icc_pieces != pieces)) {
        d->icc_broken = 1;
        return;
    }
    d->icc_pieces = pieces;
    d->icc_total += count - 14;
    if (d->icc_total > d->metadata_limit || !(d->icc[number] = copy_of(bytes + 14, count - 14))) {
        d->icc_broken = 1;
        return;
    }
    d->icc_counts[number] = (uint16_t)(count - 14);
}

/* Waits until the whole block has arrived, so that it is read once. */
static boolean read_block(j_decompress_ptr c) {
    wi_jpeg_decoder *d = c->client_data;
    const uint8_t *bytes = c->src->next_input_byte;
    size_t there = c->src->bytes_in_buffer;
    size_t length = there >= 2 ? (size_t)bytes[0] << 8 | bytes[1] : 2;
    if (length < 2) length = 2;
    if (there < length) {
        if (!d->ended) return FALSE;
        length = there;
    } else if (c->unread_marker == JPEG_APP0 + 1) {
        take_exif(d, bytes + 2, length - 2);
        take_xmp(d, bytes + 2, length - 2);
        take_extended_xmp(d, bytes + 2, length - 2);
    } else if (c->unread_marker == JPEG_APP0 + 13) {
        take_photoshop(d, bytes + 2, length - 2);
    } else {
        take_icc(d, bytes + 2, length - 2);
    }
    c->src->next_input_byte += length;
    c->src->bytes_in_buffer -= length;
    return TRUE;
}

void wi_jpeg_install_markers(wi_jpeg_decoder *d) {
    jpeg_set_marker_processor(&d->c, JPEG_APP0 + 1, read_block);
    jpeg_set_marker_processor(&d->c, JPEG_APP0 + 2, read_block);
    jpeg_set_marker_processor(&d->c, JPEG_APP0 + 13, read_block);
}

void wi_jpeg_free_metadata(wi_jpeg_decoder *d) {
    free(d->exif);
    free(d->xmp);
    free(d->extended_xmp);
    free(d->photoshop);
    for (int number = 0; number < 256; number++) free(d->icc[number]);
}

const uint8_t *wi_jpeg_exif(wi_jpeg_decoder *d, size_t *count) {
    *count = d->exif_count;
    return d->exif;
}

const uint8_t *wi_jpeg_photoshop(wi_jpeg_decoder *d, size_t *count) {
    *count = d->photoshop_count;
    return d->photoshop;
}

const uint8_t *wi_jpeg_xmp(wi_jpeg_decoder *d, size_t *count) {
    *count = d->xmp_count;
    return d->xmp;
}

const uint8_t *wi_jpeg_extended_xmp(wi_jpeg_decoder *d, size_t *count, const char **name) {
    if (!d->extended_xmp || d->extended_there != d->extended_count) return NULL;
    *count = d->extended_count;
    *name = d->extended_name;
    return d->extended_xmp;
}

size_t wi_jpeg_icc_size(wi_jpeg_decoder *d) {
    if (d->icc_broken) return 0;
    for (int number = 1; number <= d->icc_pieces; number++)
        if (!d->icc[number]) return 0;
    return d->icc_total;
}

void wi_jpeg_copy_icc(wi_jpeg_decoder *d, uint8_t *into) {
    for (int number = 1; number <= d->icc_pieces; number++) {
        memcpy(into, d->icc[number], d->icc_counts[number]);
        into += d->icc_counts[number];
    }
}
