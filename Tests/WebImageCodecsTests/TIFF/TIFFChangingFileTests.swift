#if TIFF
    import Foundation
    import Testing
    import WebImageCore
    import WebImageSystem
    import WebImageTesting

    @testable import WebImageCodecs

    /// A file on disk may be rewritten while it is decoded.
    @Suite struct TIFFChangingFileTests {
        /// Files whose tags are all at the same place, padded to the same length.
        private static func file(_ maker: TIFFMaker) -> [UInt8] {
            var maker = maker
            maker.isDataLast = true
            maker.isPacked = maker.coded == nil
            let file = maker.file()
            return file + [UInt8](repeating: 0x41, count: max(400_000 - file.count, 0))
        }

        private static var damaged: TIFFMaker {
            var maker = TIFFMaker.random(16, 16)
            maker.coded = (compression: 8, bytes: [UInt8](repeating: 0x41, count: 100))
            return maker
        }

        private static let changed = [
            TIFFMaker.random(6000, 16), TIFFMaker.random(16, 3000), TIFFMaker.random(16, 16, depth: 16),
            TIFFMaker.random(16, 16, samples: 4), TIFFMaker.random(16, 16, photometric: 1, samples: 1),
            TIFFMaker.random(16, 16, photometric: 5, samples: 4), TIFFMaker.random(2, 2),
        ]

        /// After a damaged strip the tags are read again, and with them the length of rows. A longer row was once
        /// written beyond the memory for a row.
        @Test(arguments: changed.indices) func aFileWhoseTagsChangeDuringTheDecodeIsRefused(_ index: Int) throws {
            let folder = try ScratchFolder()
            let (files, path) = (PosixFileSystem(), folder.path + "/a.tif")
            let place = URL(fileURLWithPath: path)
            try Data(Self.file(Self.damaged)).write(to: place)
            let descriptor = try files.open(path, .read)
            defer { files.close(descriptor) }
            let length = Self.file(Self.damaged).count
            let other = Data(Self.file(Self.changed[index]))
            let sink = StrictSink()
            let decoder = TIFFDecoder(DecodeOptions()) { (_) throws(WebImageError) in
                // Overwrites the file in place, so that the descriptor still refers to it.
                #expect((try? other.write(to: place)) != nil)
                return DecodePlan(sink: sink)
            }
            _ = try decoder.push(file: HeldFile(descriptor: descriptor, byteCount: length, holder: folder))
            let error = #expect(throws: WebImageError.self) { try decoder.finish() }
            #expect(error?.code == .corruptData && error?.message.contains("changed") == true, "\(error as Any)")
            #expect(sink.rowsDone == 0)
        }
    }
#endif
