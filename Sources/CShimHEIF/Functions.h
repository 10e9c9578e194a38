#pragma once
#include "../CSysHEIF/Functions.h"

/* The functions of libde265 that we call. A new call must be added here. Included before the header of libde265. */

#define WI_DE265_FUNCTIONS(F) \
    F(de265_decode) \
    F(de265_flush_data) \
    F(de265_free_decoder) \
    F(de265_get_bits_per_pixel) \
    F(de265_get_chroma_format) \
    F(de265_get_error_text) \
    F(de265_get_image_colour_primaries) \
    F(de265_get_image_full_range_flag) \
    F(de265_get_image_height) \
    F(de265_get_image_matrix_coefficients) \
    F(de265_get_image_plane) \
    F(de265_get_image_plane_user_data) \
    F(de265_get_image_transfer_characteristics) \
    F(de265_get_image_width) \
    F(de265_get_next_picture) \
    F(de265_get_warning) \
    F(de265_init) \
    F(de265_new_decoder) \
    F(de265_peek_next_picture) \
    F(de265_push_NAL) \
    F(de265_release_next_picture) \
    F(de265_set_image_allocation_functions) \
    F(de265_set_image_plane) \
    F(de265_set_parameter_bool)

/* On Linux the library is opened when it is first needed: see CShimLibrary. */
#ifdef __linux__
#define WI_PRAGMA(text) _Pragma(#text)
#define WI_RENAME(name) WI_PRAGMA(redefine_extname name wi_##name)
WI_DE265_FUNCTIONS(WI_RENAME)
#undef WI_RENAME
#undef WI_PRAGMA
#endif
