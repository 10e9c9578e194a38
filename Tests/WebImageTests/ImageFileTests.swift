import FoundationEssentials
import Testing
import WebImage
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Reading images from and writing them to Foundation's types.
@Suite struct ImageFileTests {
    private static let names: [(String, ImageFormat)] = {
        var names: [(String, ImageFormat)] = [("a.png", .png), ("a.JPG", .jpeg), ("b.webp", .webp)]
        #if TIFF
            names.append(("c.tif", .tiff))
        #endif
        #if AVIF
            // A sequence of one frame is a still.
            if CoderRegistry.standard.encodableFormats.contains(.avif) { names.append(("d.avifs", .avif)) }
        #endif
        return names
    }()

    @Test(arguments: names)
    func aFilesNameSaysItsFormat(name: String, format: ImageFormat) async throws {
        let folder = try TemporaryFolder()
        let file = URL(filePath: "\(folder.path)/\(name)")
        try await Fixture.gradient(40, 30).write(to: file)
        let data = try Data(contentsOf: file)
        #expect(ImageFormat(sniffing: [UInt8](data)) == format)
        let image = try await Image(data: data)
        #expect(image.size == PixelSize(width: 40, height: 30) && image.info.format == format)
        #expect(try await Image(contentsOf: file, size: TargetSize(width: 20)).size.width == 20)
    }

    @Test func anExplicitFormatOverridesTheFileName() async throws {
        let folder = try TemporaryFolder()
        let file = URL(filePath: "\(folder.path)/a.bin")
        try await Fixture.gradient(8, 8).write(to: file, as: .jpeg, EncodeOptions(quality: 30))
        #expect(ImageFormat(sniffing: [UInt8](try Data(contentsOf: file))) == .jpeg)
    }

    @Test func aFailedWriteSaysWhyAndLeavesNoFile() async throws {
        let folder = try TemporaryFolder()
        let image = Fixture.gradient(8, 8)
        func code(_ url: URL) async -> WebImageError? {
            do throws(WebImageError) {
                try await image.write(to: url)
                return nil
            } catch {
                return error
            }
        }
        #expect(await code(URL(filePath: "\(folder.path)/a.bin"))?.code == .cannotEncode)
        #expect(await code(URL(filePath: "\(folder.path)/a.svg"))?.code == .formatNotBuilt)
        let nowhere = await code(URL(filePath: "\(folder.path)/no/a.png"))
        #expect(nowhere?.code == .cannotWrite && nowhere?.location == "\(folder.path)/no/a.png")
        #expect(await code(try #require(URL(string: "https://example.com/a.png")))?.code == .cannotWrite)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        let file = URL(filePath: "\(folder.path)/a.png")
        try await image.write(to: file)
        try await image.resized(to: TargetSize(width: 4)).write(to: file)
        #expect(try await Image(contentsOf: file).size.width == 4)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.png"])
    }

    /// A private file stays private, and a symbolic link stays a link.
    @Test func aFileKeepsItsPermissionsAndItsLink() async throws {
        let folder = try TemporaryFolder()
        let (file, link) = (URL(filePath: "\(folder.path)/a.png"), URL(filePath: "\(folder.path)/link.png"))
        let manager = FileManager.default
        #expect(manager.createFile(atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600]))
        try manager.createSymbolicLink(atPath: link.path, withDestinationPath: "a.png")
        try await Fixture.gradient(8, 8).write(to: link)
        #expect(try await Image(contentsOf: file).size.width == 8)
        #expect(try manager.destinationOfSymbolicLink(atPath: link.path) == "a.png")
        #expect(try manager.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
        #expect(Set(try manager.contentsOfDirectory(atPath: folder.path)) == ["a.png", "link.png"])
    }

    /// The new file once got the permissions of the link itself, which allow everything.
    @Test func aLinkToAMissingFileStaysALink() async throws {
        let folder = try TemporaryFolder()
        let (link, target) = (folder.path + "/link.png", folder.path + "/picture.png")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "picture.png")
        try await Fixture.gradient(8, 8).write(to: URL(fileURLWithPath: link))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "picture.png")
        let mode = try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int
        #expect(try #require(mode) & 0o022 == 0)
    }

    /// Writing once replaced the link itself.
    @Test func linksThatLeadToEachOtherAreRefusedAndStay() async throws {
        let folder = try TemporaryFolder()
        let (one, other) = (folder.path + "/one.png", folder.path + "/other.png")
        try FileManager.default.createSymbolicLink(atPath: one, withDestinationPath: "other.png")
        try FileManager.default.createSymbolicLink(atPath: other, withDestinationPath: "one.png")
        await #expect(throws: WebImageError.self) {
            try await Fixture.gradient(8, 8).write(to: URL(fileURLWithPath: one))
        }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: one) == "other.png")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    }

    /// Writing once replaced the file with one that belonged to the current user and its first group.
    @Test(.enabled(if: geteuid() == 0, "only an administrator gives files away"))
    func aFileKeepsItsOwner() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/a.png"
        #expect(FileManager.default.createFile(atPath: file, contents: nil))
        try #require(chown(file, 65_534, 65_534) == 0)
        try await Fixture.gradient(8, 8).write(to: URL(fileURLWithPath: file))
        var status = stat()
        try #require(stat(file, &status) == 0)
        #expect(status.st_uid == 65_534 && status.st_gid == 65_534 && status.st_size > 0)
    }

    @Test func aPipeIsWrittenToAndStays() async throws {
        let folder = try TemporaryFolder()
        let pipe = folder.path + "/pipe.png"
        try #require(mkfifo(pipe, 0o600) == 0)
        // The pipe is opened for reading and writing, so that neither side waits for the other.
        let reader = open(pipe, O_RDWR)
        defer { close(reader) }
        try await Fixture.gradient(8, 8).write(to: URL(fileURLWithPath: pipe))
        var bytes = [UInt8](repeating: 0, count: 4)
        #expect(read(reader, &bytes, 4) == 4 && bytes == [0x89, 0x50, 0x4E, 0x47])
        #expect(try FileManager.default.attributesOfItem(atPath: pipe)[.type] as? FileAttributeType != .typeRegular)
    }

    @Test func aURLIsEnoughToLoadAPicture() async throws {
        let bench = TestBench()
        bench.answer("http://pictures.test/a.png", with: try Fixture.png(40, 30), type: "image/png")
        let url = try #require(URL(string: "http://pictures.test/a.png"))
        #expect(try await bench.manager.image(for: url).image.size.width == 40)
        #expect(try await bench.manager.image(for: url, size: TargetSize(width: 10)).image.size.width == 10)
        let request = ImageRequest(data: Data(try Fixture.png(8, 8)), name: "mine")
        #expect(try await bench.manager.image(for: request).image.size.width == 8)
    }

    @Test func aPhotographsDateIsAMomentWhereItsZoneIsKnown() throws {
        var date = try #require(PhotoDate(year: 2024, month: 2, day: 29, hour: 12, minute: 30, second: 5))
        #expect(date.date() == nil)
        let berlin = try #require(TimeZone(secondsFromGMT: 3600))
        #expect(date.date(in: berlin)?.timeIntervalSince1970.rounded() == 1_709_206_205)
        date.minutesFromUTC = -90
        let moment = try #require(date.date(in: berlin))
        #expect(Int(moment.timeIntervalSince1970.rounded()) == 1_709_215_205)
        date.year = 2023
        #expect(date.date() == nil, "2023 has no 29 February")
    }
}
