import Testing
import WebImageCore

@testable import WebImageDownload

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The temporary files with the authorities that libcurl is to trust.
@Suite struct TrustFilesTests {
    @Test func eachSetHasAFileOfItsOwnUpToALimit() throws {
        // The system's bundle is replaced by an empty file, to keep the copies small.
        var files = TrustFiles(bundle: "/dev/null")
        defer { files.closeAll() }
        var names: Set<String> = []
        for number in 0..<TrustFiles.most { names.insert(try files.combinedBundle(with: Array("\(number)".utf8))) }
        #expect(names.count == TrustFiles.most)
        let error = #expect(throws: WebImageError.self) { try files.combinedBundle(with: Array("one more".utf8)) }
        #expect(error?.code == .tlsFailed)
        // Files of sets that are known are still returned, with the right content.
        let known = try files.combinedBundle(with: Array("7".utf8))
        #expect(names.contains(known))
        let file = open(known, O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 16)
        #expect(pread(file, &bytes, 16, 0) == 2 && bytes.starts(with: Array("\n7".utf8)))
    }
}
