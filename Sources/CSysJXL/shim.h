#pragma once
#include "Functions.h"
#include <jxl/decode.h>
#include <jxl/encode.h>
#include <jxl/version.h>

/* Until libjxl 0.9 these took a format of pixels, which it did not look at. */
#if JPEGXL_MAJOR_VERSION == 0 && JPEGXL_MINOR_VERSION < 9
#define WI_JXL_PROFILE_OF(decoder, target) decoder, NULL, target
#else
#define WI_JXL_PROFILE_OF(decoder, target) decoder, target
#endif

static inline JxlDecoderStatus wi_jxl_profile_size(
    const JxlDecoder *decoder, JxlColorProfileTarget target, size_t *size) {
    return JxlDecoderGetICCProfileSize(WI_JXL_PROFILE_OF(decoder, target), size);
}

static inline JxlDecoderStatus wi_jxl_profile(
    const JxlDecoder *decoder, JxlColorProfileTarget target, uint8_t *profile, size_t size) {
    return JxlDecoderGetColorAsICCProfile(WI_JXL_PROFILE_OF(decoder, target), profile, size);
}

static inline JxlDecoderStatus wi_jxl_encoding(
    const JxlDecoder *decoder, JxlColorProfileTarget target, JxlColorEncoding *encoding) {
    return JxlDecoderGetColorAsEncodedProfile(WI_JXL_PROFILE_OF(decoder, target), encoding);
}
