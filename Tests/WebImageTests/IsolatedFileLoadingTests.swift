import Testing
import WebImage
import WebImageCore
import WebImageSystem
import WebImageTesting

/// Local files that are larger than the memory for bytes. They are decoded in a worker process, which reads the file
/// itself.
@Suite struct IsolatedFileLoadingTests {
    @Test(arguments: [ImageFormat.tiff, .png]) func aLongLocalFileIsTheSamePicture(_ format: ImageFormat) async throws {
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: 9)
        let noise = try Image(size: PixelSize(width: 1500, height: 1200), alpha: .opaque) { bytes in
            for place in bytes.indices {
                bytes[place] = place % 4 == 3 ? 255 : UInt8.random(in: 0...255, using: &random)
            }
        }
        var options = EncodeOptions()
        options.compressionLevel = 0
        let bytes = try noise.encoded(as: format, options)
        #expect(bytes.count > 5 << 20)
        let (path, files) = ("\(folder.path)/long", PosixFileSystem())
        let file = try files.open(path, .createNew)
        try bytes.withUnsafeBytes { try files.writeAll(file, $0, at: 0) }
        files.close(file)
        for isolation in [DecoderIsolation.none, .all] {
            let bench = TestBench { $0.isolation = isolation }
            defer { bench.manager.shutDown() }
            let image = try await bench.manager.image(for: ImageRequest(path: path)).image
            #expect(image.size == noise.size)
            #expect(image.pixels.withBytes { Array($0) } == noise.pixels.withBytes { Array($0) })
            let details = try await bench.manager.details(for: ImageRequest(path: path))
            #expect(details.header.size == noise.size && details.byteCount == ByteCount(bytes.count))
            #expect(bench.manager.isolationReport.crashed == 0)
        }
    }
}
