import Foundation
import WebImage

/// Draws with kitty's graphics protocol, which kitty, WezTerm, Ghostty and others support: a PNG in base64, in pieces.
enum KittyDrawing {
    /// The longest piece that the protocol allows.
    private static let pieceLength = 4096

    /// - Parameters:
    ///   - png: the picture's file.
    ///   - columns: the number of letters to which the terminal scales the picture's width; nil draws it pixel for
    ///     pixel.
    static func bytes(png: [UInt8], columns: Int?) -> [UInt8] {
        let text = Array(Data(png).base64EncodedData())
        var output: [UInt8] = []
        for start in stride(from: 0, to: text.count, by: pieceLength) {
            let end = min(start + pieceLength, text.count)
            let isLast = end == text.count ? 0 : 1
            // a=T: send and show; f=100: PNG; q=2: send no answer, since nothing would read it.
            var control = "m=\(isLast)"
            if start == 0 { control = "a=T,f=100,q=2,\(columns.map { "c=\($0)," } ?? "")" + control }
            output += Array("\u{1B}_G\(control);".utf8) + text[start..<end] + Array("\u{1B}\\".utf8)
        }
        return output + [UInt8(ascii: "\n")]
    }
}
