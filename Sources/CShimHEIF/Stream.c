/* Sequences of HEVC pictures: see Decoder.c for the condition. */
#if __has_include(<libheif/heif_plugin.h>) && __has_include(<libde265/de265.h>)

#include "CShimHEIF.h"
#include "Functions.h"
#include "Decoder.h"
#include <stdlib.h>

struct wi_hevc_stream {
    de265_decoder_context *context;
    /* The current picture. It is the first of libde265's queue until it is released. */
    const struct de265_image *shown;
};

wi_hevc_stream *wi_hevc_stream_create(void) {
    wi_hevc_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) return NULL;
    stream->context = wi_hevc_context();
    if (stream->context != NULL) return stream;
    free(stream);
    return NULL;
}

void wi_hevc_stream_free(wi_hevc_stream *stream) {
    if (stream == NULL) return;
    de265_free_decoder(stream->context);
    free(stream);
}

const char *wi_hevc_stream_push(wi_hevc_stream *stream, const void *data, size_t count) {
    if (count == 0) {
        de265_flush_data(stream->context);
        return NULL;
    }
    // `de265_push_end_of_frame` is not called: it would also end the wait for pictures that are shown earlier and come later.
    return wi_hevc_push(stream->context, data, count);
}

int wi_hevc_stream_advance(wi_hevc_stream *stream, const char **fault) {
    if (stream->shown != NULL) de265_release_next_picture(stream->context);
    stream->shown = NULL;
    for (int more = 1;;) {
        // A damaged picture is never shown, nor is one that depends on it.
        *fault = wi_hevc_damage(stream->context);
        if (*fault != NULL) return -1;
        stream->shown = de265_peek_next_picture(stream->context);
        if (stream->shown != NULL) return 1;
        if (!more) return 0;
        more = 0;
        de265_error result = de265_decode(stream->context, &more);
        if (result == DE265_ERROR_WAITING_FOR_INPUT_DATA) more = 0;
        if (result != DE265_OK && result != DE265_ERROR_WAITING_FOR_INPUT_DATA) {
            *fault = de265_get_error_text(result);
            return -1;
        }
    }
}

void wi_hevc_stream_lend(const wi_hevc_stream *stream) { wi_hevc_lent = stream == NULL ? NULL : stream->shown; }

#endif
