package import WebImageCore
import WebImageSystem

// Reads entries that the cache lacks from read-only sources.
extension DiskCache {
    /// Larger files of a source are not read.
    private static let maxForeignBytes: Int64 = 256 << 20

    /// Looks for an entry in the read-only sources. Call it after a miss was counted: if an entry is found, the miss
    /// becomes a hit.
    func readElsewhere(_ key: CacheKey, _ id: EntryID) -> DiskEntry? {
        for source in configuration.readOnlySources {
            guard let entry = read(key, id, from: source) else { continue }
            books.withLock { books in
                books.statistics.misses -= 1
                books.statistics.hits += 1
            }
            return entry
        }
        return nil
    }

    func pathElsewhere(_ key: CacheKey, _ id: EntryID) -> String? {
        for source in configuration.readOnlySources {
            for path in paths(key, id, in: source) where holds(path, key, id, in: source) { return path }
        }
        return nil
    }

    private func holds(_ path: String, _ key: CacheKey, _ id: EntryID, in source: DiskSource) -> Bool {
        guard case .cache = source.kind else { return (try? folder.files.status(at: path))?.isRegularFile ?? false }
        guard let file = try? EntryFile.open(path, folder.files, .read) else { return false }
        defer { file.close() }
        guard let status = try? file.status(), case .passed(let tail)? = try? file.readTail(status) else {
            return false
        }
        return tail.trailer.isOf(key, id) && tail.trailer.isAlive(at: folder.clock.wallTime)
    }

    private func paths(_ key: CacheKey, _ id: EntryID, in source: DiskSource) -> [String] {
        switch source.kind {
        case .cache(let layout): [layout.path(of: id)]
        case .files(let paths): paths(key)
        }
    }

    /// A file that cannot be read counts as missing.
    private func read(_ key: CacheKey, _ id: EntryID, from source: DiskSource) -> DiskEntry? {
        for path in paths(key, id, in: source) {
            guard let file = try? EntryFile.open(path, folder.files, .read) else { continue }
            defer { file.close() }
            guard let status = try? file.status(), status.isRegularFile, status.size <= Self.maxForeignBytes else {
                continue
            }
            switch source.kind {
            case .cache:
                guard case .passed(let content)? = try? file.readAll(status, most: Self.maxForeignBytes),
                    content.trailer.isOf(key, id),
                    content.trailer.isAlive(at: folder.clock.wallTime)
                else { continue }
                return DiskEntry(key: key, body: content.body, trailer: content.trailer, path: path)
            case .files:
                guard let body = try? file.readPlain(status) else { continue }
                var metadata = DiskMetadata()
                metadata.storedAt = status.modified
                metadata.format = body.withUnsafeBytes { ImageFormat(sniffing: $0) }
                return DiskEntry(key: key, body: body, metadata: metadata, path: path)
            }
        }
        return nil
    }

    /// Imports pictures from a folder that SDWebImage wrote. Its files do not hold their keys, so only the given keys
    /// are found, and only pictures are imported. The folder stays unchanged. Blocks.
    /// - Returns: how many entries were added.
    /// - Throws: `noSpace`, `readOnly`, `cacheIO`.
    package func importSDWebImage(_ directory: String, keys: [CacheKey]) throws(WebImageError) -> Int {
        try importSDWebImage(directory, keys.map { SDWebImagePicture(key: $0, name: $0.text) })
    }

    /// Imports pictures that SDWebImage may have stored under other keys than those of this library. Blocks.
    package func importSDWebImage(
        _ directory: String, _ pictures: [SDWebImagePicture]
    ) throws(WebImageError) -> Int {
        var count = 0
        for picture in pictures {
            let (key, id) = (picture.key, EntryID(picture.key))
            let names = picture.name == key.text ? [key.text] : [picture.name, key.text]
            let source = DiskSource(
                kind: .files { _ in names.flatMap { SDWebImageNaming.paths(in: directory, for: $0) } })
            // A store that begins from here on takes precedence over the old picture.
            let order = orderWrite(of: key)
            guard try path(for: key) == nil, let entry = read(key, id, from: source),
                entry.metadata.format != nil
            else { continue }
            let writer = try makeWriter(for: key, as: order)
            try writer.append(entry.body)
            if try writer.commit(entry.metadata) { count += 1 }
        }
        return count
    }
}
