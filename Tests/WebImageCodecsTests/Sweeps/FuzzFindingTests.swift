import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

/// Faults that fuzzing found, each with its story.
@Suite struct FuzzFindingTests {
    /// The second frame claims to cover the canvas, but its data ends in the first row. If it was shown after the first
    /// frame, that one once showed through below. If it was shown first, nothing did, because a frame that covers
    /// everything began on an empty canvas.
    @Test func aFrameWithTooFewRowsLooksTheSameInWhateverOrder() throws {
        let head = Array("GIF89a".utf8) + [4, 0, 4, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255]
        let first: [UInt8] = [0x2C, 0, 0, 0, 0, 4, 0, 4, 0, 0, 2, 4, 0x84, 0x8F, 0x09, 0x05, 0]
        let short: [UInt8] = [0x2C, 0, 0, 0, 0, 252, 0, 4, 0, 0, 2, 4, 0x8C, 0x8F, 0x19, 0x05, 0]
        let file = head + first + short + short + [0x3B]
        let forwards = try #require(AnimationOutcome(GIFCoder(), .gif, file, most: 3))
        let backwards = try #require(AnimationOutcome(GIFCoder(), .gif, file, most: 3, backwards: true))
        #expect(forwards.delays.count == 3 && forwards.frames.allSatisfy { $0 != nil })
        #expect(forwards.agrees(with: backwards))
        // The last row is that of the first frame.
        #expect(backwards.frames[2]?.suffix(4) == forwards.frames[0]?.suffix(4))
        #expect(backwards.frames[2]?.last == 255)
    }

    /// Found by the sweep: an animation that was cut off within an extension, before the next frame's descriptor, once
    /// counted as complete.
    @Test func aGIFThatEndsWithinABlockIsTruncated() throws {
        let file = try #require(SmallPictures.all().first { $0.name == "gif" }).bytes
        let frames = try #require(AnimationOutcome(GIFCoder(), .gif, file, most: 0))
        #expect(frames.error == nil && frames.delays.count == 3)
        let second = try #require((file.indices.dropFirst(60)).first { file[$0...].starts(with: [0x21, 0xF9, 4]) })
        for length in second + 1..<second + 17 where length != second + 8 {
            let cut = try #require(AnimationOutcome(GIFCoder(), .gif, Array(file.prefix(length)), most: 0))
            #expect(cut.error?.code == .truncatedData && cut.delays.count == 1, "\(length)")
        }
        // If only the trailer is missing, the animation is complete.
        let whole = try #require(AnimationOutcome(GIFCoder(), .gif, Array(file.dropLast()), most: 0))
        #expect(whole.error == nil && whole.delays.count == 3)
    }

    /// With a second frame header that is cut short, libjpeg takes a baseline picture for a progressive one before it
    /// has seen enough to refuse it. When asked how exact the picture is, we once followed a pointer that only
    /// progressive pictures have.
    @Test func aCutSecondFrameHeaderChangesNothing() throws {
        let whole = JPEGMaker.manyScansOfBaseline
        #expect(DecodeOutcome(JPEGCoder(), whole + [0xFF, 0xD9]).rows == 8)
        for cut in [[0xFF], [0xFF, 0xC2], [0xFF, 0xC2, 0, 0x11, 8, 0], [0xFF, 0xCA, 0, 0x11]] as [[UInt8]] {
            for length in [Int.max, 1] {
                let result = DecodeOutcome(JPEGCoder(), whole + cut, previews: true, length: { length })
                #expect(result.error?.code == .truncatedData && result.faults.isEmpty && result.rows == 8)
            }
        }
        let second = DecodeOutcome(JPEGCoder(), whole + [0xFF, 0xC2, 0, 8, 8, 0, 8, 0, 8, 0, 0xFF, 0xD9])
        #expect(second.error?.code == .corruptData)
    }

    #if JXL
        /// Later frames were once read before the first one was decoded. Whether damage in them lost the first one,
        /// too, depended on the pieces in which the bytes came.
        @Test func damageBehindTheFirstFrameLosesOnlyLaterFrames() throws {
            let frames = try (0..<3).map { try Drawings.noise(40, 30, alpha: .opaque, seed: UInt64($0)) }
            let description = AnimationDescription(size: frames[0].size, loopCount: 0)
            let encoder = try #require(
                try JXLCoder().makeAnimationEncoder(.jxl, description, EncodeOptions(isLossless: true)))
            for frame in frames { try encoder.add(frame, delay: .milliseconds(100)) }
            let file = try encoder.finish()
            var random = SeededGenerator(seed: 4)
            var found = 0
            for _ in 0..<60 {
                var damaged = file
                for _ in 0..<3 { damaged[file.count / 2 + random.below(file.count / 2)] ^= UInt8(1 << random.below(8)) }
                let whole = DecodeOutcome(JXLCoder(), damaged)
                let pieces = DecodeOutcome(JXLCoder(), damaged, length: { 100 })
                #expect(whole.error?.code == pieces.error?.code && whole.hasSamePixels(as: pieces))
                #expect(whole.error == nil && whole.rows == 30)
                let all = try #require(AnimationOutcome(JXLCoder(), .jxl, damaged, most: 0))
                found += all.error == nil ? 0 : 1
            }
            #expect(found > 0)
        }
    #endif

    #if AVIF
        /// A still with the tables of a sequence. The table of delays claims four thousand million runs, and all were
        /// once counted, although the first was enough.
        @Test func aDelayTableWithBillionsOfRunsIsNotCounted() throws {
            let description = AnimationDescription(size: PixelSize(width: 16, height: 16), loopCount: 0)
            let made = try AVIFCoder().makeAnimationEncoder(.avifSequence, description, EncodeOptions())
            let encoder = try #require(made)
            for seed in 0..<3 {
                let frame = try Drawings.noise(16, 16, alpha: .opaque, seed: UInt64(seed))
                try encoder.add(frame, delay: .milliseconds(40))
            }
            var file = try encoder.finish()
            func place(of name: String) -> Int? {
                file.indices.first { file[$0] == name.utf8.first && file[$0...].starts(with: name.utf8) }
            }
            while let brand = place(of: "avis") { file.replaceSubrange(brand..<brand + 4, with: "mif1".utf8) }
            let table = try #require(place(of: "stts"))
            for index in 0..<4 { file[table + 8 + index] = 255 }
            let result = try #require(AnimationOutcome(AVIFCoder(), .avifSequence, file, most: 0))
            #expect(result.faults.isEmpty && result.delays.count <= 1)
        }
    #endif
}
