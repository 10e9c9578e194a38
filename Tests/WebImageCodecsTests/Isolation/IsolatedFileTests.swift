import Foundation
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageCodecs

/// A worker that reads a file by itself gives the same result as one that is sent the bytes.
@Suite(.enabled(if: Workers.areAvailable)) struct IsolatedFileTests {
    /// A temporary file that is open for reading. It is closed and removed when the object is released.
    private final class OpenedFile: Sendable {
        let descriptor: Int32
        private let path: String
        private let files = PosixFileSystem()

        init(_ bytes: [UInt8]) throws {
            path = FileManager.default.temporaryDirectory.path + "/webimage-file-\(UInt64.random(in: 0 ... .max))"
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            descriptor = try files.open(path, .read)
        }

        deinit {
            files.close(descriptor)
            try? files.remove(path)
        }

        func setLength(_ count: Int) throws {
            let writer = try files.open(path, .readWrite)
            defer { files.close(writer) }
            try files.truncate(writer, to: Int64(count))
        }

        func held(_ count: Int) -> HeldFile { HeldFile(descriptor: descriptor, byteCount: count, holder: self) }
    }

    private struct Outcome: Equatable {
        var header: ImageHeader?
        var pixels: [UInt8]?
        var code: WebImageError.Code?
    }

    private func decode(
        _ coder: any ImageCoder, _ options: DecodeOptions = DecodeOptions(),
        push: (any ImageDecoder) throws(WebImageError) -> Void
    ) -> Outcome {
        let sink = PixelBufferSink()
        var outcome = Outcome()
        do throws(WebImageError) {
            let decoder = try coder.makeDecoder(options) { (_) throws(WebImageError) in DecodePlan(sink: sink) }
            try push(decoder)
            try decoder.finish()
            outcome.header = decoder.header
            outcome.pixels = sink.buffer?.withBytes { Array($0) }
        } catch {
            outcome.code = error.code
        }
        return outcome
    }

    private func coder(for bytes: [UInt8]) throws -> any ImageCoder {
        try bytes.withUnsafeBytes { prefix in
            try CoderRegistry.standard.coder(for: ImageFormat(sniffing: prefix), prefix: prefix)
        }
    }

    private func far(
        _ coder: any ImageCoder, _ pool: DecoderPool, _ file: HeldFile, _ options: DecodeOptions = DecodeOptions(),
        behind push: () throws -> Void = {}
    ) throws -> Outcome {
        let decoder = IsolatedCoder(coder: coder, pool: pool)
        return decode(decoder, options) { (decoder) throws(WebImageError) in
            guard let decoder = decoder as? any FileReadingDecoder else {
                throw WebImageError(.decoderUnavailable, "it reads no files")
            }
            _ = try decoder.push(file: file)
            do { try push() } catch { throw WebImageError(.cacheIO, "\(error)") }
        }
    }

    @Test(arguments: SmallPictures.all()) func aFileDecodesAsItsBytesInThisProcess(_ picture: SmallPictures.File) throws
    {
        let coder = try coder(for: picture.bytes)
        // The whole file, half of it, and a damaged one.
        var broken = picture.bytes
        broken[broken.count * 2 / 3] ^= 0x55
        for bytes in [picture.bytes, Array(picture.bytes.prefix(picture.bytes.count / 2)), broken] {
            let near = decode(coder) { (decoder) throws(WebImageError) in
                _ = try bytes.withUnsafeBufferPointer { buffer throws(WebImageError) in
                    try decoder.push(UnsafeRawBufferPointer(buffer))
                }
            }
            let file = try OpenedFile(bytes)
            let made = try far(coder, Workers.pool, file.held(bytes.count))
            let isSame = made == near
            #expect(isSame, "\(picture.name): \(made.code?.name ?? "good"), not \(near.code?.name ?? "good")")
        }
    }

    /// A file that was sent to a worker that died is sent to the next worker.
    @Test func aFileOfAWorkerThatDiedIsSentToTheNextWorker() throws {
        let picture = try #require(SmallPictures.all().first { $0.format == .tiff })
        let coder = try coder(for: picture.bytes)
        let pool = DecoderPool(.all)
        defer { pool.shutDown() }
        let file = try OpenedFile(picture.bytes)
        let whole = try far(coder, pool, file.held(picture.bytes.count))
        #expect(whole.pixels != nil)
        var killed = false
        let again = try far(coder, pool, file.held(picture.bytes.count)) {
            for process in pool.processNumbers { killed = kill(process, SIGKILL) == 0 || killed }
        }
        #expect(killed && again == whole)
    }

    /// Such a file was once reported as truncated.
    @Test(.enabled(if: Workers.areConfined)) func aFileLongerThanTheMemoryOfAWorkerIsToldAsSuch() throws {
        let picture = try #require(SmallPictures.all().first { $0.format == .tiff })
        let coder = try coder(for: picture.bytes)
        let pool = DecoderPool(DecoderIsolation(.all, memory: .mebibytes(64)))
        defer { pool.shutDown() }
        let file = try OpenedFile(picture.bytes)
        let length = 8 << 30
        // The rest of the file takes no room on the disk.
        try file.setLength(length)
        #expect(try far(coder, pool, file.held(length)).code == .limitExceeded)
        #expect(try far(coder, pool, file.held(picture.bytes.count)).pixels != nil)
    }

    @Test func aFileThatBecomesShorterIsToldAsSuch() throws {
        let size = PixelSize(width: 500, height: 400)
        let image = try Image(size: size, alpha: .opaque) { bytes in
            var random = SeededGenerator(seed: 5)
            for place in bytes.indices {
                bytes[place] = place % 4 == 3 ? 255 : UInt8.random(in: 0...255, using: &random)
            }
        }
        var options = EncodeOptions()
        options.compressionLevel = 0
        let bytes = try CoderRegistry.standard.encode(image, as: .tiff, options)
        let coder = try coder(for: bytes)
        let pool = DecoderPool(.all)
        defer { pool.shutDown() }
        // The first file becomes shorter before the worker has it, the second while the worker reads it.
        let first = try OpenedFile(bytes)
        try first.setLength(5000)
        #expect(try far(coder, pool, first.held(bytes.count)).code == .truncatedBody)
        let second = try OpenedFile(bytes)
        let outcome = try far(coder, pool, second.held(bytes.count)) { try second.setLength(5000) }
        #expect(outcome.code == .truncatedBody)
        // The next file is not affected.
        let third = try OpenedFile(bytes)
        #expect(try far(coder, pool, third.held(bytes.count)).pixels != nil)
    }

    /// The TIFF decoder reads files by itself also in this process.
    @Test(arguments: SmallPictures.all().filter { [.tiff, .bigTIFF].contains($0.format) })
    func aTIFFIsReadFromAFileInThisProcess(_ picture: SmallPictures.File) throws {
        let coder = try coder(for: picture.bytes)
        func read(_ file: HeldFile, behind push: () throws -> Void = {}) -> Outcome {
            decode(coder) { (decoder) throws(WebImageError) in
                guard let decoder = decoder as? any FileReadingDecoder else {
                    throw WebImageError(.decoderUnavailable, "it reads no files")
                }
                _ = try decoder.push(file: file)
                do { try push() } catch { throw WebImageError(.cacheIO, "\(error)") }
            }
        }
        var broken = picture.bytes
        broken[broken.count * 2 / 3] ^= 0x55
        for bytes in [picture.bytes, Array(picture.bytes.prefix(picture.bytes.count / 2)), broken] {
            let near = decode(coder) { (decoder) throws(WebImageError) in
                _ = try bytes.withUnsafeBufferPointer { buffer throws(WebImageError) in
                    try decoder.push(UnsafeRawBufferPointer(buffer))
                }
            }
            let isSame = read(try OpenedFile(bytes).held(bytes.count)) == near
            #expect(isSame, "\(picture.name)")
        }
        let file = try OpenedFile(picture.bytes)
        let shorter = read(file.held(picture.bytes.count)) { try file.setLength(100) }
        #expect(shorter.code == .truncatedBody && shorter.pixels == nil)
    }

    @Test func aFileAboveTheLimitIsRefused() throws {
        let picture = try #require(SmallPictures.all().first { $0.format == .tiff })
        let file = try OpenedFile(picture.bytes)
        var options = DecodeOptions()
        options.limits.bytes = ByteCount(picture.bytes.count - 1)
        let coder = try coder(for: picture.bytes)
        #expect(try far(coder, Workers.pool, file.held(picture.bytes.count), options).code == .limitExceeded)
    }

    /// The error once named BigTIFF.
    @Test func anErrorNamesThePlainFormatOfACoder() throws {
        let picture = try #require(SmallPictures.all().first { $0.format == .tiff })
        var options = DecodeOptions()
        options.limits.bytes = ByteCount(picture.bytes.count - 1)
        let coder = IsolatedCoder(coder: try coder(for: picture.bytes), pool: Workers.pool)
        let decoder = try coder.makeDecoder(options) { (_) throws(WebImageError) in DecodePlan(sink: nil) }
        let error = #expect(throws: WebImageError.self) { try picture.bytes.withUnsafeBytes { try decoder.push($0) } }
        #expect(error?.code == .limitExceeded && error?.format == .tiff)
    }
}
