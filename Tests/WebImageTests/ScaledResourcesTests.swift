import Testing
import WebImageTesting
import WebImage
import WebImageCore

@Suite struct ScaledResourcesTests {
    private static func folder(_ names: [String]) throws -> String {
        let folder = try ScratchFolder.make()
        for name in names { try FileTree.write([1], to: "\(folder)/\(name)") }
        return folder
    }

    @Test(arguments: [
        (["a.png", "a@2x.png", "a@3x.png"], ["a.png", "a@2x.png", "a@3x.png"]),
        (["a.png", "a@3x.png"], ["a.png", "a@3x.png", "a@3x.png"]),
        (["a.png", "a@2x.png"], ["a.png", "a@2x.png", "a@2x.png"]),
        (["a@2x.png", "a@3x.png"], ["a@2x.png", "a@2x.png", "a@3x.png"]),
        (["a.png"], ["a.png", "a.png", "a.png"]),
    ])
    func theNearestScaleIsFoundLargerOnesFirst(_ there: [String], _ found: [String]) throws {
        let folder = try Self.folder(there)
        defer { ScratchFolder.remove(folder) }
        let resources = ScaledResources(path: folder)
        for name in ["a.png", "a"] {
            #expect((1...3).map { resources.file(named: name, scale: $0) } == found.map { "\(folder)/\($0)" })
        }
        #expect(resources.file(named: "a.png", scale: 0) == resources.file(named: "a.png"))
        #expect(resources.file(named: "a.png", scale: 9) == resources.file(named: "a.png", scale: 3))
        #expect(resources.file(named: "b.png") == nil && resources.file(named: "a.gif") == nil)
    }

    @Test func aNameWithoutAnExtensionMayBeOfAnyFormat() throws {
        let folder = try Self.folder(["b@2x.webp", "c.d.gif"])
        defer { ScratchFolder.remove(folder) }
        let resources = ScaledResources(path: folder)
        let found = try #require(resources.file(named: "b"))
        #expect(found.hasSuffix("/b@2x.webp") && ScaleSuffix.scale(ofKey: found) == 2)
        #expect(resources.file(named: "c.d.gif") == "\(folder)/c.d.gif")
    }

    @Test(arguments: ["", "/etc/passwd", "../x.png", "a/../../x.png", "a//b.png", "./a.png", ".png", "a/", ".."])
    func namesThatLeadOutOfTheFolderAreNotFound(_ name: String) throws {
        let folder = try Self.folder(["a.png", "x.png"])
        defer { ScratchFolder.remove(folder) }
        #expect(ScaledResources(path: "\(folder)").file(named: name) == nil)
    }

    @Test func aFoundResourceLoads() async throws {
        let folder = try ScratchFolder.make()
        defer { ScratchFolder.remove(folder) }
        let drawn = try Image(size: PixelSize(width: 6, height: 4), alpha: .opaque) {
            $0.initializeMemory(as: UInt8.self, repeating: 200)
        }
        try FileTree.write(try drawn.encoded(as: .png), to: "\(folder)/dot@2x.png")
        let path = try #require(ScaledResources(path: folder).file(named: "dot", scale: 2))
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let response = try await ImageManager(configuration: configuration).image(for: ImageRequest(path: path))
        #expect(response.image.size == drawn.size)
    }
}
