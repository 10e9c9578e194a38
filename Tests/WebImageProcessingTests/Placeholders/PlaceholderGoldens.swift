import WebImageCore

/// Pictures made with integer arithmetic, so that `scripts/placeholder-goldens` draws exactly the same.
enum PlaceholderPicture {
    static func pixels(_ kind: String, _ width: Int, _ height: Int) -> [Int] {
        var pixels: [Int] = []
        for y in 0..<height { for x in 0..<width { pixels += pixel(kind, x, y, width, height) } }
        return pixels
    }

    static func image(_ kind: String, _ width: Int, _ height: Int) throws -> Image {
        let buffer = try PixelBuffer.make(PixelSize(width, height), pixels(kind, width, height))
        let isOpaque = kind != "translucent" && kind != "clear"
        return Image(pixels: buffer, info: Image.Info(alpha: isOpaque ? .opaque : .straight))
    }

    private static func pixel(_ kind: String, _ x: Int, _ y: Int, _ width: Int, _ height: Int) -> [Int] {
        switch kind {
        case "gradient": return [x * 255 / max(width - 1, 1), y * 255 / max(height - 1, 1), 128, 255]
        case "checker":
            let level = (x / 3 + y / 3) % 2 * 255
            return [level, level, level, 255]
        case "flat": return [200, 100, 50, 255]
        case "hills": return [(x * x * 3 + y * 7) % 256, (x * y + 40) % 256, (x * 11 + y * y) % 256, 255]
        case "translucent": return [(x * x * 3 + y * 7) % 256, (x * y + 40) % 256, 90, (x * 13 + y * y * 5) % 256]
        default: return [10, 20, 30, 0]
        }
    }
}

/// Placeholders of these pictures by other implementations.
enum PlaceholderGoldens {
    /// Picture, width and height, components, text. Made with blurhash-python 1.2.2 by `scripts/placeholder-goldens`.
    static let blurTexts: [(String, Int, Int, Int, Int, String)] = [
        ("gradient", 32, 24, 4, 3, "L$HewF2swxX8l}WDjte;gJfjfQfj"),
        ("gradient", 7, 61, 3, 9, "@%IEzr3BWpl|aNfQgcf%fQnSazfQf%fjfQn+a|fQf7fQfQoLa|fQf7f7fQ"),
        ("checker", 40, 30, 4, 3, "L4Lqe9_3fQ_3~qWBM{WBfQfQfQfQ"),
        ("checker", 13, 11, 5, 6, "nsLg^ZxuayxuM{xuWBWBRjIUayWBayWBM{t7IUM{D%00ayWBayWBM{%Mt7ofxu-;"),
        ("flat", 16, 16, 4, 3, "LBM|T9}XfQ}X}XoLfQoLfQfQfQfQ"),
        ("flat", 1, 1, 4, 3, "L~M|T9}=}=}=}=}=}=}=}=}=}=}="),
        ("flat", 5, 5, 1, 1, "00M|T9"),
        ("hills", 50, 40, 4, 3, "L9HeRpmpZRrEQ_MfEMNE*%1GwIFo"),
        ("hills", 33, 97, 6, 5, "f4HLVn+9HY+iDH#9mCQrMcVIN4VvHuMgEINZFzKJi1MfRzWkO?Xu9HEfBKG97yB}"),
        ("hills", 100, 1, 2, 8, "%~G}biWn}LWn}LWn}LWn}LWn}LWn}LWn}LWn"),
        ("hills", 3, 2, 9, 1, "8614B^c7WTpGWTc7udc7WT"),
    ]

    /// Text, width and height, punch, and red, green and blue of each pixel. By blurhash-python 1.2.2.
    static let blurPixels: [(String, Int, Int, Int, String)] = [
        (
            "L9HeRpmpZRrEQ_MfEMNE*%1GwIFo", 4, 3, 1,
            "804c7d97769ca08c9ca28794997696968e9a99999b929298a58a9b989897949d96949596"
        ),
        (
            "L$HewF2swxX8l}WDjte;gJfjfQfj", 5, 3, 2,
            "00009b00008f060085b1008fff008500009700008a000080ad008aff008000de8f00d38000cc75a5d380f8cc75"
        ),
    ]

    /// Picture, width and height, bytes. Made with thumbhash-python 1.0.1. The original implementation, thumbhash.js,
    /// gives the same in Node 20.
    static let thumbs: [(String, Int, Int, String)] = [
        ("hills", 50, 40, "df07020e84320246515381053663944675735470b79cfb"),
        ("hills", 33, 97, "df0702020213533435536350b025f6dfca"),
        ("hills", 100, 1, "97a63251a87777778888088888877f8708"),
        ("hills", 7, 100, "dd27061106426348967374601055d7afb9"),
        ("flat", 1, 1, "1dcb3acf3208f708888788708f7088f80888808008088800"),
        ("translucent", 50, 40, "1c19820c8207447460641668460466cada6f65230432187502"),
        ("translucent", 60, 19, "db088202820732501495713103b0f9a771503707358762"),
        ("translucent", 9, 100, "db188209020710446936571044f6dfd999833687480768"),
        ("clear", 4, 4, "00088205000000000000000000000000000000000000000000"),
    ]

    /// Bytes of the hash, size of the drawn picture, and FNV-1a hash of its RGBA bytes. Made with thumbhash.js in Node
    /// 20. (thumbhash-python draws other sizes for long pictures, and rounds where the original truncates.)
    static let thumbDrawings: [(String, Int, Int, UInt64)] = [
        ("df07020e84320246515381053663944675735470b79cfb", 32, 27, 0x401f_d5b6_9bed_049a),
        ("97a63251a87777778888088888877f8708", 32, 5, 0x5845_e928_9015_5dea),
        ("dd27061106426348967374601055d7afb9", 5, 32, 0x233e_73b6_9ff5_554e),
        ("1c19820c8207447460641668460466cada6f65230432187502", 32, 26, 0xd2d3_cdb8_2ae9_6947),
        ("db188209020710446936571044f6dfd999833687480768", 6, 32, 0x2623_e05e_8db6_2268),
        ("1c098203000732834535071082d3fbcb737096a7587784", 19, 32, 0xa76e_7528_c49f_07a5),
    ]

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.utf8.map { UInt8($0 < 58 ? $0 - 48 : $0 - 87) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    static func sum(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
