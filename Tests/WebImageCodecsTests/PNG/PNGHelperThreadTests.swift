import Dispatch
import Foundation
import Synchronization
import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageCodecs

/// If another thread inflates the data, nothing changes: neither the pixels, nor the errors for damage, nor the rows
/// before it.
@Suite struct PNGHelperThreadTests {
    enum Kind: CaseIterable { case colors, alpha, deep, palette, gray }

    /// When the helping thread begins, and when it leaves.
    enum Manner: CaseIterable { case atOnce, late, never, leavesSoon }

    /// Idle threads that count how often their help was asked for.
    private final class Helpers: IdleThreads {
        let asked = Atomic(0)
        /// How often the helper asked whether it may continue, which it does before each batch that it inflates.
        let helped = Atomic(0)
        private let manner: Manner

        init(_ manner: Manner) { self.manner = manner }

        var idleCount: Int { 1 }

        func share(_ count: Int, _ part: @escaping @Sendable (Int) -> Void) { for number in 0..<count { part(number) } }

        func share(_ work: () -> Void, with help: @escaping @Sendable (_ goesOn: @escaping () -> Bool) -> Void) {
            asked.add(1, ordering: .relaxed)
            if manner == .never { return work() }
            let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let manner = manner
            Thread.detachNewThread {
                begun.signal()
                var asked = 0
                help {
                    asked += 1
                    self.helped.add(1, ordering: .relaxed)
                    return manner != .leavesSoon || asked < 4
                }
                ended.signal()
            }
            // A thread takes a moment to begin.
            if manner != .late { begun.wait() }
            work()
            ended.wait()
        }
    }

    private func file(_ kind: Kind) throws -> [UInt8] {
        let size = PixelSize(width: 1001, height: 701)
        var options = EncodeOptions()
        var image: Image
        switch kind {
        case .colors: image = try SamplePictures.grainySunset(size)
        case .alpha:
            image = try Image(size: size, alpha: .straight) { bytes in
                for place in bytes.indices { bytes[place] = UInt8(truncatingIfNeeded: place &* place >> 11) }
            }
        case .deep:
            image = try Image(size: size, layout: .rgba16, alpha: .opaque) { bytes in
                for place in bytes.indices { bytes[place] = UInt8(truncatingIfNeeded: place &* 7 ^ place >> 9) }
                for place in stride(from: 6, to: bytes.count, by: 8) { (bytes[place], bytes[place + 1]) = (255, 255) }
            }
        case .palette:
            image = try SamplePictures.grainySunset(size)
            options.paletteColors = 64
        case .gray:
            image = try Image(size: size, alpha: .opaque) { bytes in
                for place in bytes.indices {
                    let pixel = place / 4
                    bytes[place] = place % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: pixel &* pixel >> 7)
                }
            }
        }
        return try PNGCoder().encode(image, as: .png, options)
    }

    /// The same file with its data in chunks of `length` bytes.
    private func rechunked(_ file: [UInt8], _ length: Int) -> [UInt8] {
        func chunk(_ name: String, _ body: ArraySlice<UInt8>) -> [UInt8] {
            func number(_ value: UInt32) -> [UInt8] {
                (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            }
            let content = Array(name.utf8) + body
            return number(UInt32(body.count)) + content + number(Checksum.crc32(content))
        }
        var result = Array(file.prefix(8))
        var data: [UInt8] = []
        var at = 8
        while at < file.count {
            let count = file[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
            let name = String(decoding: file[at + 4..<at + 8], as: UTF8.self)
            let body = file[at + 8..<at + 8 + count]
            at += 12 + count
            if name == "IDAT" {
                data += body
                continue
            }
            if name == "IEND" {
                for start in stride(from: 0, to: data.count, by: length) {
                    result += chunk("IDAT", data[start..<min(start + length, data.count)])
                }
                result += chunk("tEXt", Array("Comment\0late".utf8)[...])
            }
            result += chunk(name, body)
        }
        return result
    }

    private func expectSame(
        _ bytes: [UInt8], _ what: String, deep: Bool, length: Int? = nil, with helpers: Helpers
    ) {
        let options = DecodeOptions(keepsBitDepth: deep)
        var helped = options
        helped.idleThreads = helpers
        let pieces = length.map { length in { length } }
        for keepsWhole in [true, false] {
            let alone = DecodeOutcome(PNGCoder(), bytes, options, keepsWhole: keepsWhole, length: pieces)
            let coder = PNGCoder(minPixelsForHelp: 1)
            let other = DecodeOutcome(coder, bytes, helped, keepsWhole: keepsWhole, length: pieces)
            #expect(other.header == alone.header && other.format == alone.format, "\(what)")
            #expect(other.rows == alone.rows && other.pixels == alone.pixels, "\(what)")
            #expect(other.error?.code == alone.error?.code && other.error?.message == alone.error?.message, "\(what)")
            #expect(other.faults == alone.faults, "\(what)")
        }
    }

    @Test(arguments: Kind.allCases, Manner.allCases) func pixelsAndErrorsAreTheSameWithHelpingThreads(
        _ kind: Kind, _ manner: Manner
    )
        throws
    {
        let helpers = Helpers(manner)
        func expectSame(_ bytes: [UInt8], _ what: String, deep: Bool, length: Int? = nil) {
            self.expectSame(bytes, what, deep: deep, length: length, with: helpers)
        }
        let whole = try file(kind)
        let isDeep = kind == .deep
        expectSame(whole, "\(kind)", deep: isDeep)
        expectSame(whole, "\(kind) in pieces", deep: isDeep, length: 70_000)
        #expect(helpers.asked.load(ordering: .relaxed) >= 4)
        for length in [100, 8192] {
            expectSame(rechunked(whole, length), "\(kind) in chunks of \(length)", deep: isDeep)
        }
        for part in [0.02, 0.4, 0.95] {
            expectSame(Array(whole.prefix(Int(Double(whole.count) * part))), "\(kind) cut at \(part)", deep: isDeep)
        }
        var random = SeededGenerator(seed: 7)
        let chunked = rechunked(whole, 30_000)
        for _ in 0..<6 {
            var bytes = chunked
            let place = Int.random(in: 60..<bytes.count, using: &random)
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            expectSame(bytes, "\(kind) damaged at \(place)", deep: isDeep)
        }
        // A late thread may arrive only at the end of each of the decodes, so that it never helps.
        if manner != .late { #expect((helpers.helped.load(ordering: .relaxed) == 0) == (manner == .never)) }
    }
}
