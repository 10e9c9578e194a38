#if JXL
    import CSysJXL
    import WebImageCore

    /// The colours of the pixels from libjxl.
    enum JXLColor {
        /// The profile of the decoded pixels; nil for sRGB, for grey with sRGB's curve, and for profiles longer than
        /// `limit` bytes.
        ///
        /// Lossy pictures are stored in libjxl's own space (XYB). libjxl converts them to the original's colours if
        /// these have a name; for a profile it would return linear sRGB, which 8 bits cannot hold, so sRGB is requested
        /// then.
        static func profile(of decoder: OpaquePointer, _ info: JxlBasicInfo, limit: Int) -> [UInt8]? {
            var encoding = JxlColorEncoding()
            let hasName = colors(of: decoder, JXL_COLOR_PROFILE_TARGET_ORIGINAL, &encoding)
            if !hasName, info.uses_original_profile == JXL_FALSE {
                var standard = JxlColorEncoding()
                JxlColorEncodingSetToSRGB(&standard, info.num_color_channels == 1 ? JXL_TRUE : JXL_FALSE)
                _ = JxlDecoderSetPreferredColorProfile(decoder, &standard)
            }
            if colors(of: decoder, JXL_COLOR_PROFILE_TARGET_DATA, &encoding), isStandard(encoding) { return nil }
            var count = 0
            let target = JXL_COLOR_PROFILE_TARGET_DATA
            guard wi_jxl_profile_size(decoder, target, &count) == JXL_DEC_SUCCESS, count > 0,
                count <= limit
            else { return nil }
            var profile = [UInt8](repeating: 0, count: count)
            guard wi_jxl_profile(decoder, target, &profile, count) == JXL_DEC_SUCCESS else {
                return nil
            }
            return profile
        }

        /// The code points of pixels of high dynamic range; nil for all others, which have a profile.
        static func description(of decoder: OpaquePointer) -> ColorDescription? {
            var encoding = JxlColorEncoding()
            guard colors(of: decoder, JXL_COLOR_PROFILE_TARGET_DATA, &encoding),
                encoding.color_space == JXL_COLOR_SPACE_RGB || encoding.color_space == JXL_COLOR_SPACE_GRAY,
                encoding.white_point == JXL_WHITE_POINT_D65,
                encoding.transfer_function == JXL_TRANSFER_FUNCTION_PQ
                    || encoding.transfer_function == JXL_TRANSFER_FUNCTION_HLG
            else { return nil }
            let primaries: UInt8
            switch encoding.primaries {
            // libjxl's P3 has a separate white point.
            case JXL_PRIMARIES_P3: primaries = 12
            case JXL_PRIMARIES_2100: primaries = 9
            default: primaries = 1
            }
            return ColorDescription(
                primaries: primaries, transfer: encoding.transfer_function == JXL_TRANSFER_FUNCTION_PQ ? 16 : 18)
        }

        /// The code points of high dynamic range in libjxl's form.
        static func encoding(_ description: ColorDescription) -> JxlColorEncoding {
            var encoding = JxlColorEncoding()
            JxlColorEncodingSetToSRGB(&encoding, JXL_FALSE)
            switch description.primaries {
            case 9: encoding.primaries = JXL_PRIMARIES_2100
            case 11, 12: encoding.primaries = JXL_PRIMARIES_P3
            default: break
            }
            switch description.transfer {
            case 16: encoding.transfer_function = JXL_TRANSFER_FUNCTION_PQ
            case 18: encoding.transfer_function = JXL_TRANSFER_FUNCTION_HLG
            default: break
            }
            return encoding
        }

        private static func colors(
            of decoder: OpaquePointer, _ target: JxlColorProfileTarget, _ encoding: inout JxlColorEncoding
        ) -> Bool {
            wi_jxl_encoding(decoder, target, &encoding) == JXL_DEC_SUCCESS
        }

        private static func isStandard(_ encoding: JxlColorEncoding) -> Bool {
            guard encoding.white_point == JXL_WHITE_POINT_D65,
                encoding.transfer_function == JXL_TRANSFER_FUNCTION_SRGB
            else { return false }
            switch encoding.color_space {
            case JXL_COLOR_SPACE_GRAY: return true
            case JXL_COLOR_SPACE_RGB: return encoding.primaries == JXL_PRIMARIES_SRGB
            default: return false
            }
        }
    }
#endif
