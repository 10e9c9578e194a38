/* SwiftPM compiles this folder in every build of the package itself, also of one without the trait HEIF, for which
   libheif and libde265 need not be installed. */
#if __has_include(<libheif/heif_plugin.h>) && __has_include(<libde265/de265.h>)

#include "CShimHEIF.h"
#include "Functions.h"
#include "CPixels.h"
#include "Decoder.h"
#include <libheif/heif.h>
#include <libheif/heif_plugin.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char name[] = "webimage-strict-hevc";
static const struct heif_error well = {heif_error_Ok, heif_suberror_Unspecified, "success"};
static const struct heif_error no_memory = {
    heif_error_Memory_allocation_error, heif_suberror_Unspecified, "there is no memory"};

static struct heif_error damage(const char *message) {
    struct heif_error error = {heif_error_Decoder_plugin_error, heif_suberror_Unspecified, message};
    return error;
}

// MARK: planes

/* Allocates zeroed memory, so that parts that are not decoded are zero. Each sample gets two bytes, whatever its depth: memory
   that is not touched costs nothing. libde265 calls it only for pictures without its last filter (sample adaptive offset), as
   cameras often make them. */
static int take_planes(de265_decoder_context *context, struct de265_image_spec *spec, struct de265_image *image, void *data) {
    (void)context, (void)data;
    int across = spec->format == de265_image_format_YUV420P8 || spec->format == de265_image_format_YUV422P8 ? 2 : 1;
    int down = spec->format == de265_image_format_YUV420P8 ? 2 : 1;
    int count = spec->format == de265_image_format_mono8 ? 1 : 3;
    void *planes[3] = {NULL, NULL, NULL};
    int strides[3] = {0, 0, 0};
    for (int plane = 0; plane < count; plane++) {
        int width = plane == 0 ? spec->width : spec->width / across;
        int height = plane == 0 ? spec->height : spec->height / down;
        strides[plane] = (width + spec->alignment - 1) / spec->alignment * spec->alignment;
        // The inner loops of libde265 read a little further than the last sample.
        planes[plane] = calloc((size_t)strides[plane] * (size_t)height + 64, 2);
        if (planes[plane] == NULL) {
            for (int earlier = 0; earlier < plane; earlier++) free(planes[earlier]);
            return 0;
        }
    }
    for (int plane = 0; plane < 3; plane++) {
        // libde265 takes the length of a row in bytes, and divides it by those of a sample.
        int length = strides[plane] * (de265_get_bits_per_pixel(image, plane) > 8 ? 2 : 1);
        de265_set_image_plane(image, plane, planes[plane], length, planes[plane]);
    }
    return 1;
}

static void give_planes_back(de265_decoder_context *context, struct de265_image *image, void *data) {
    (void)context, (void)data;
    for (int plane = 0; plane < 3; plane++) {
        free(de265_get_image_plane_user_data(image, plane));
        de265_set_image_plane(image, plane, NULL, 0, NULL);
    }
}

// MARK: a decoder

static const char *plugin_name(void) { return "libde265, strict"; }

// The lowest priority: libheif uses the decoder only if it is requested by its name.
static int priority(enum heif_compression_format format) { return format == heif_compression_HEVC ? 1 : 0; }

static _Thread_local struct {
    int denominator, width, height;
} reduction = {1, 0, 0};

void wi_hevc_reduce(int denominator, int width, int height) {
    reduction.denominator = denominator;
    reduction.width = width;
    reduction.height = height;
}

de265_decoder_context *wi_hevc_context(void) {
    de265_decoder_context *context = de265_new_decoder();
    if (context == NULL) return NULL;
    struct de265_image_allocation planes = {take_planes, give_planes_back};
    de265_set_image_allocation_functions(context, &planes, NULL);
    de265_set_parameter_bool(context, DE265_DECODER_PARAM_SUPPRESS_FAULTY_PICTURES, 1);
    de265_set_parameter_bool(context, DE265_DECODER_PARAM_DISABLE_DEBLOCKING, reduction.denominator > 1);
    de265_set_parameter_bool(context, DE265_DECODER_PARAM_DISABLE_SAO, reduction.denominator > 1);
    return context;
}

static struct heif_error make_decoder(void **decoder) {
    *decoder = wi_hevc_context();
    return *decoder == NULL ? no_memory : well;
}

static void free_decoder(void *decoder) { de265_free_decoder(decoder); }

const char *wi_hevc_push(de265_decoder_context *context, const uint8_t *bytes, size_t count) {
    while (count > 0) {
        size_t length = 0;
        if (count < 4) return "the data ends within a length";
        for (int index = 0; index < 4; index++) length = length << 8 | bytes[index];
        bytes += 4;
        count -= 4;
        if (length > count || length > INT32_MAX) return "the data ends within a unit";
        if (de265_push_NAL(context, bytes, (int)length, 0, NULL) != DE265_OK) return no_memory.message;
        bytes += length;
        count -= length;
    }
    return NULL;
}

_Thread_local const struct de265_image *wi_hevc_lent;

static struct heif_error push(void *decoder, const void *data, size_t count) {
    if (wi_hevc_lent != NULL) return well;
    const char *fault = wi_hevc_push(decoder, data, count);
    if (fault == NULL) return well;
    return fault == no_memory.message ? no_memory : damage(fault);
}

static int divided(int side, int denominator) { return (side + denominator - 1) / denominator; }

/* The size of the picture that is copied from a decoded one. */
static int copied_width(const struct de265_image *image) {
    int width = de265_get_image_width(image, 0);
    return reduction.denominator > 1 ? divided(reduction.width, reduction.denominator) : width;
}

static int copied_height(const struct de265_image *image) {
    int height = de265_get_image_height(image, 0);
    return reduction.denominator > 1 ? divided(reduction.height, reduction.denominator) : height;
}

/* A plane of samples, with its stride in bytes. */
struct samples {
    const uint8_t *first;
    int stride, width, height, depth;
};

/* Divides the sides of a plane: by means, and the last time by 2 with a finer filter. */
static int reduce(struct samples from, int across, int down, uint8_t *to, int to_stride) {
    int is_deep = from.depth > 8;
    size_t size = is_deep ? 2 : 1;
    int mean_across = across > 2 ? across / 2 : 1, mean_down = down > 2 ? down / 2 : 1;
    void *means = NULL;
    if (mean_across > 1 || mean_down > 1) {
        int width = divided(from.width, mean_across), height = divided(from.height, mean_down);
        means = malloc((size_t)width * (size_t)height * size);
        if (means == NULL) return 0;
        if (is_deep) {
            wi_mean_plane_16(
                means, (size_t)width, (const uint16_t *)(const void *)from.first, (size_t)from.stride / 2, (size_t)from.width,
                (size_t)from.height, (size_t)mean_across, (size_t)mean_down);
        } else {
            wi_mean_plane_8(
                means, (size_t)width, from.first, (size_t)from.stride, (size_t)from.width, (size_t)from.height,
                (size_t)mean_across, (size_t)mean_down);
        }
        from.first = means;
        from.stride = width * (int)size;
        from.width = width;
        from.height = height;
    }
    uint32_t top = (1u << from.depth) - 1;
    if (is_deep) {
        wi_halve_plane_16(
            (uint16_t *)(void *)to, (size_t)to_stride / 2, (const uint16_t *)(const void *)from.first, (size_t)from.stride / 2,
            (size_t)from.width, (size_t)from.height, across > 1, down > 1, top);
    } else {
        wi_halve_plane_8(
            to, (size_t)to_stride, from.first, (size_t)from.stride, (size_t)from.width, (size_t)from.height, across > 1,
            down > 1, top);
    }
    free(means);
    return 1;
}

/* Copies a plane with divided sides. Strides are in bytes. */
static struct heif_error copy_reduced(
    const struct de265_image *image, int plane, const uint8_t *from, int from_stride, uint8_t *to, int to_stride) {
    enum de265_chroma chroma = de265_get_chroma_format(image);
    int across = plane > 0 && (chroma == de265_chroma_420 || chroma == de265_chroma_422) ? 2 : 1;
    int down = plane > 0 && chroma == de265_chroma_420 ? 2 : 1;
    struct samples samples = {
        from, from_stride, divided(reduction.width, across), divided(reduction.height, down),
        de265_get_bits_per_pixel(image, plane)};
    if (samples.width > de265_get_image_width(image, plane) || samples.height > de265_get_image_height(image, plane)) {
        return damage("the picture is smaller than described");
    }
    int is_done = reduce(samples, reduction.denominator / across, reduction.denominator / down, to, to_stride);
    return is_done ? well : no_memory;
}

static struct heif_error copy_plane(const struct de265_image *image, int plane, struct heif_image *into) {
    static const enum heif_channel channels[3] = {heif_channel_Y, heif_channel_Cb, heif_channel_Cr};
    int width = de265_get_image_width(image, plane), height = de265_get_image_height(image, plane);
    int depth = de265_get_bits_per_pixel(image, plane);
    if (width <= 0 || height <= 0) return damage("a plane is empty");
    if (depth != de265_get_bits_per_pixel(image, 0)) return damage("the planes have different depths");
    int is_reduced = reduction.denominator > 1;
    struct heif_error error = heif_image_add_plane(
        into, channels[plane], is_reduced ? copied_width(image) : width, is_reduced ? copied_height(image) : height, depth);
    if (error.code != heif_error_Ok) return error;
    int from_stride = 0, to_stride = 0;
    const uint8_t *from = de265_get_image_plane(image, plane, &from_stride);
    uint8_t *to = heif_image_get_plane(into, channels[plane], &to_stride);
    if (from == NULL || to == NULL) return no_memory;
    if (is_reduced) return copy_reduced(image, plane, from, from_stride, to, to_stride);
    size_t length = (size_t)width * (depth > 8 ? 2 : 1);
    for (int row = 0; row < height; row++) {
        memcpy(to + (size_t)row * (size_t)to_stride, from + (size_t)row * (size_t)from_stride, length);
    }
    return well;
}

/* Copies the description of the colours in the data. Numbers that libheif does not know keep its defaults. */
static struct heif_error copy_colors(const struct de265_image *image, struct heif_image *into) {
    struct heif_color_profile_nclx *colors = heif_nclx_color_profile_alloc();
    if (colors == NULL) return no_memory;
    heif_nclx_color_profile_set_color_primaries(colors, (uint16_t)de265_get_image_colour_primaries(image));
    heif_nclx_color_profile_set_transfer_characteristics(
        colors, (uint16_t)de265_get_image_transfer_characteristics(image));
    heif_nclx_color_profile_set_matrix_coefficients(colors, (uint16_t)de265_get_image_matrix_coefficients(image));
    colors->full_range_flag = (uint8_t)de265_get_image_full_range_flag(image);
    struct heif_error error = heif_image_set_nclx_color_profile(into, colors);
    heif_nclx_color_profile_free(colors);
    return error;
}

static struct heif_error copy(const struct de265_image *image, struct heif_image **output) {
    enum de265_chroma chroma = de265_get_chroma_format(image);
    int is_grey = chroma == de265_chroma_mono;
    enum heif_chroma copied_chroma =
        reduction.denominator > 1 && !is_grey ? heif_chroma_444 : (enum heif_chroma)chroma;
    struct heif_image *copied = NULL;
    struct heif_error error = heif_image_create(
        copied_width(image), copied_height(image), is_grey ? heif_colorspace_monochrome : heif_colorspace_YCbCr,
        copied_chroma, &copied);
    if (error.code == heif_error_Ok) error = copy_colors(image, copied);
    for (int plane = 0; plane < (is_grey ? 1 : 3) && error.code == heif_error_Ok; plane++) {
        error = copy_plane(image, plane, copied);
    }
    if (error.code == heif_error_Ok) {
        *output = copied;
    } else if (copied != NULL) {
        heif_image_release(copied);
    }
    return error;
}

const char *wi_hevc_damage(de265_decoder_context *context) {
    for (;;) {
        de265_error warning = de265_get_warning(context);
        switch (warning) {
        case DE265_OK: return NULL;
        case DE265_WARNING_NO_WPP_CANNOT_USE_MULTITHREADING:
        case DE265_WARNING_NUMBER_OF_THREADS_LIMITED_TO_MAXIMUM:
        case DE265_WARNING_SPS_MISSING_CANNOT_DECODE_SEI: break;
        default: return de265_get_error_text(warning);
        }
    }
}

static struct heif_error decode_pictures(de265_decoder_context *context, struct heif_image **output) {
    int more = 1;
    de265_flush_data(context);
    while (more) {
        more = 0;
        de265_error failure = de265_decode(context, &more);
        if (failure == DE265_ERROR_OUT_OF_MEMORY) return no_memory;
        if (failure != DE265_OK) return damage(de265_get_error_text(failure));
        const struct de265_image *image = de265_get_next_picture(context);
        if (image == NULL) continue;
        struct heif_error error = *output == NULL ? copy(image, output) : damage("the data holds several pictures");
        de265_release_next_picture(context);
        if (error.code != heif_error_Ok) return error;
    }
    const char *fault = wi_hevc_damage(context);
    if (fault != NULL) return damage(fault);
    return *output != NULL ? well : damage("the data holds no whole picture");
}

static struct heif_error decode(void *decoder, struct heif_image **output) {
    *output = NULL;
    struct heif_error error = wi_hevc_lent != NULL ? copy(wi_hevc_lent, output) : decode_pictures(decoder, output);
    // libheif does not release the picture after a failure.
    if (error.code != heif_error_Ok && *output != NULL) {
        heif_image_release(*output);
        *output = NULL;
    }
    return error;
}

static void set_strict(void *decoder, int flag) { (void)decoder, (void)flag; }

// MARK: registering

static const struct heif_decoder_plugin plugin = {
    .plugin_api_version = 3,
    .get_plugin_name = plugin_name,
    .does_support_format = priority,
    .new_decoder = make_decoder,
    .free_decoder = free_decoder,
    .push_data = push,
    .decode_image = decode,
    .set_strict_decoding = set_strict,
    .id_name = name,
};

static int is_registered;

static void register_plugin(void) {
    is_registered = de265_init() == DE265_OK && heif_register_decoder_plugin(&plugin).code == heif_error_Ok;
}

const char *wi_heif_strict_decoder(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_plugin);
    return is_registered ? name : NULL;
}

#endif
