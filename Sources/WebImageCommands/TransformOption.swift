import ArgumentParser
import Synchronization
import WebImage

/// The value of `--transform`: chains of transforms that are applied one after the other, and the files that they name.
struct TransformOption {
    let specs: [String]

    /// Checks the texts, without reading any file.
    ///
    /// - Throws: `ValidationError`, which shows the position of the error.
    func validate() throws {
        do throws(TransformSyntaxError) {
            let dot = try? Image(size: PixelSize(width: 1, height: 1)) { _ in }
            _ = try parse(
                TransformResources(
                    image: { _ throws(WebImageError) in try dot.orThrow() },
                    cube: { _ throws(WebImageError) in try ColorCube(side: 2) { $0 } }))
        } catch {
            throw ValidationError("--transform: \(error)")
        }
    }

    /// Returns the transforms, after loading the files that they name.
    ///
    /// - Parameters:
    ///   - manager: decodes the pictures, as the options for decoders say.
    ///   - limits: those of the pictures.
    /// - Throws: why a file cannot be used.
    func load(by manager: ImageManager, _ limits: InputOptions) async throws(WebImageError) -> [ImageTransform] {
        if specs.isEmpty { return [] }
        // Names are compared as bytes: files whose names are normalised differently are different files.
        let names = Mutex((images: [[UInt8]: String](), cubes: [[UInt8]: String]()))
        let dot = try Image(size: PixelSize(width: 1, height: 1)) { _ in }
        _ = try? parse(
            TransformResources(
                image: { name in
                    names.withLock { $0.images[Array(name.utf8)] = name }
                    return dot
                },
                cube: { name throws(WebImageError) in
                    names.withLock { $0.cubes[Array(name.utf8)] = name }
                    return try ColorCube(side: 2) { $0 }
                }))
        let wanted = names.withLock { $0 }
        var images: [[UInt8]: Image] = [:]
        var cubes: [[UInt8]: ColorCube] = [:]
        for (key, name) in wanted.images {
            images[key] = try await Self.naming(name) { () async throws(WebImageError) in
                try await manager.image(for: InputBytes.request(ofFile: name, limits)).image
            }
        }
        for (key, name) in wanted.cubes {
            cubes[key] = try await Self.naming(name) { () async throws(WebImageError) in
                try await Self.cube(name, by: manager, limits)
            }
        }
        do throws(TransformSyntaxError) {
            return try parse(
                TransformResources(
                    image: { [images] name throws(WebImageError) in try images[Array(name.utf8)].orThrow() },
                    cube: { [cubes] name throws(WebImageError) in try cubes[Array(name.utf8)].orThrow() }))
        } catch {
            throw WebImageError(.transformFailed, "--transform: \(error.message)")
        }
    }

    /// Adds the name of the chain's file to an error, whose location otherwise names the picture.
    private static func naming<Resource>(
        _ name: String, _ load: () async throws(WebImageError) -> Resource
    ) async throws(WebImageError) -> Resource {
        do throws(WebImageError) {
            return try await load()
        } catch {
            throw WebImageError(error.code, "--transform: \(name): \(error.message)", cause: error)
        }
    }

    private func parse(_ resources: TransformResources) throws(TransformSyntaxError) -> [ImageTransform] {
        var transforms: [ImageTransform] = []
        for spec in specs { transforms += try ImageTransform.parse(spec, resources: resources) }
        return transforms
    }

    /// The largest cube has two million lines.
    private static let longestCube = ByteCount.mebibytes(128)

    private static func cube(
        _ name: String, by manager: ImageManager, _ limits: InputOptions
    ) async throws(WebImageError) -> ColorCube {
        var request = InputBytes.request(ofFile: name, limits)
        request.http.bodyLimit = min(limits.maxBytes ?? longestCube, longestCube)
        let bytes = try await InputBytes.all(of: try await manager.bytes(for: request))
        return try ColorCube(text: String(decoding: bytes, as: UTF8.self))
    }
}

extension Optional {
    /// - Throws: `fileNotFound` for nil, which cannot happen, since all names were collected before.
    fileprivate func orThrow() throws(WebImageError) -> Wrapped {
        guard let self else { throw WebImageError(.fileNotFound, "there is no such file") }
        return self
    }
}
