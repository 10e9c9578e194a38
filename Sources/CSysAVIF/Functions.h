#pragma once

/* The functions of libavif that we call; whoever calls another one adds it here. Included before the library's own headers. */

#define WI_AVIF_FUNCTIONS(F) \
    F(avifCodecName) \
    F(avifDecoderCreate) \
    F(avifDecoderDestroy) \
    F(avifDecoderNearestKeyframe) \
    F(avifDecoderNthImage) \
    F(avifDecoderNthImageMaxExtent) \
    F(avifDecoderParse) \
    F(avifDecoderReadMemory) \
    F(avifDecoderReset) \
    F(avifDecoderSetIO) \
    F(avifEncoderAddImage) \
    F(avifEncoderCreate) \
    F(avifEncoderDestroy) \
    F(avifEncoderFinish) \
    F(avifEncoderSetCodecSpecificOption) \
    F(avifEncoderWrite) \
    F(avifImageCreate) \
    F(avifImageCreateEmpty) \
    F(avifImageDestroy) \
    F(avifImageRGBToYUV) \
    F(avifImageSetMetadataExif) \
    F(avifImageSetMetadataXMP) \
    F(avifImageSetProfileICC) \
    F(avifImageSetViewRect) \
    F(avifImageYUVToRGB) \
    F(avifRGBImageAllocatePixels) \
    F(avifRGBImageFreePixels) \
    F(avifRGBImageSetDefaults) \
    F(avifRWDataFree) \
    F(avifResultToString)

/* On Linux the library is opened when it is first needed: see CShimLibrary. */
#ifdef __linux__
#define WI_PRAGMA(text) _Pragma(#text)
#define WI_RENAME(name) WI_PRAGMA(redefine_extname name wi_##name)
WI_AVIF_FUNCTIONS(WI_RENAME)
#undef WI_RENAME
#undef WI_PRAGMA
#endif
