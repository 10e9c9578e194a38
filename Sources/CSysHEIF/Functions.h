#pragma once

/* The functions of libheif that we call; whoever calls another one adds it here. Included before the library's own headers. */

#define WI_HEIF_FUNCTIONS(F) \
    F(heif_context_add_XMP_metadata) \
    F(heif_context_add_exif_metadata) \
    F(heif_context_alloc) \
    F(heif_context_encode_image) \
    F(heif_context_encode_thumbnail) \
    F(heif_context_free) \
    F(heif_context_get_encoder_for_format) \
    F(heif_context_get_primary_image_handle) \
    F(heif_context_read_from_memory_without_copy) \
    F(heif_context_set_max_decoding_threads) \
    F(heif_context_set_maximum_image_size_limit) \
    F(heif_context_write) \
    F(heif_decode_image) \
    F(heif_decoding_options_alloc) \
    F(heif_decoding_options_free) \
    F(heif_encoder_release) \
    F(heif_encoder_set_logging_level) \
    F(heif_encoder_set_lossy_quality) \
    F(heif_encoder_set_parameter_string) \
    F(heif_encoding_options_alloc) \
    F(heif_encoding_options_free) \
    F(heif_have_encoder_for_format) \
    F(heif_image_add_plane) \
    F(heif_image_create) \
    F(heif_image_get_bits_per_pixel_range) \
    F(heif_image_get_height) \
    F(heif_image_get_plane) \
    F(heif_image_get_plane_readonly) \
    F(heif_image_get_primary_height) \
    F(heif_image_get_primary_width) \
    F(heif_image_get_width) \
    F(heif_image_handle_release) \
    F(heif_image_release) \
    F(heif_image_set_nclx_color_profile) \
    F(heif_image_set_raw_color_profile) \
    F(heif_nclx_color_profile_alloc) \
    F(heif_nclx_color_profile_free) \
    F(heif_nclx_color_profile_set_color_primaries) \
    F(heif_nclx_color_profile_set_matrix_coefficients) \
    F(heif_nclx_color_profile_set_transfer_characteristics) \
    F(heif_register_decoder_plugin)

/* On Linux the library is opened when it is first needed: see CShimLibrary. */
#ifdef __linux__
#define WI_PRAGMA(text) _Pragma(#text)
#define WI_RENAME(name) WI_PRAGMA(redefine_extname name wi_##name)
WI_HEIF_FUNCTIONS(WI_RENAME)
#undef WI_RENAME
#undef WI_PRAGMA
#endif
