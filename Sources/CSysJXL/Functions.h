#pragma once

/* The functions of libjxl that we call; whoever calls another one adds it here. Included before the library's own headers. */

#define WI_JXL_FUNCTIONS(F) \
    F(JxlColorEncodingSetToSRGB) \
    F(JxlDecoderCloseInput) \
    F(JxlDecoderCreate) \
    F(JxlDecoderDestroy) \
    F(JxlDecoderFlushImage) \
    F(JxlDecoderGetBasicInfo) \
    F(JxlDecoderGetBoxType) \
    F(JxlDecoderGetColorAsEncodedProfile) \
    F(JxlDecoderGetColorAsICCProfile) \
    F(JxlDecoderGetExtraChannelInfo) \
    F(JxlDecoderGetFrameHeader) \
    F(JxlDecoderGetICCProfileSize) \
    F(JxlDecoderImageOutBufferSize) \
    F(JxlDecoderProcessInput) \
    F(JxlDecoderReleaseBoxBuffer) \
    F(JxlDecoderReleaseInput) \
    F(JxlDecoderRewind) \
    F(JxlDecoderSetBoxBuffer) \
    F(JxlDecoderSetCoalescing) \
    F(JxlDecoderSetDecompressBoxes) \
    F(JxlDecoderSetImageOutBuffer) \
    F(JxlDecoderSetInput) \
    F(JxlDecoderSetKeepOrientation) \
    F(JxlDecoderSetParallelRunner) \
    F(JxlDecoderSetPreferredColorProfile) \
    F(JxlDecoderSetUnpremultiplyAlpha) \
    F(JxlDecoderSkipFrames) \
    F(JxlDecoderSubscribeEvents) \
    F(JxlEncoderAddBox) \
    F(JxlEncoderAddImageFrame) \
    F(JxlEncoderCloseBoxes) \
    F(JxlEncoderCloseInput) \
    F(JxlEncoderCreate) \
    F(JxlEncoderDestroy) \
    F(JxlEncoderFrameSettingsCreate) \
    F(JxlEncoderFrameSettingsSetOption) \
    F(JxlEncoderGetError) \
    F(JxlEncoderInitBasicInfo) \
    F(JxlEncoderInitFrameHeader) \
    F(JxlEncoderProcessOutput) \
    F(JxlEncoderSetBasicInfo) \
    F(JxlEncoderSetColorEncoding) \
    F(JxlEncoderSetFrameDistance) \
    F(JxlEncoderSetFrameHeader) \
    F(JxlEncoderSetFrameLossless) \
    F(JxlEncoderSetICCProfile) \
    F(JxlEncoderSetParallelRunner) \
    F(JxlEncoderUseBoxes) \
    F(JxlEncoderUseContainer)

/* On Linux the library is opened when it is first needed: see CShimLibrary. */
#ifdef __linux__
#define WI_PRAGMA(text) _Pragma(#text)
#define WI_RENAME(name) WI_PRAGMA(redefine_extname name wi_##name)
WI_JXL_FUNCTIONS(WI_RENAME)
#undef WI_RENAME
#undef WI_PRAGMA
#endif
