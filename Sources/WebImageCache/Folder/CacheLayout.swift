import WebImageCore

/// The paths in a cache's directory.
///
/// ```
/// <directory>/CACHEDIR.TAG
/// <directory>/<namespace>/v1/<aa>/<64 hexadecimal digits>   entries; <aa> are the first two digits
/// <directory>/<namespace>/v1/<aa>/.<process>-<start>-<number> entries that are being written. In one directory for all
///                                                            of them, file systems would take ever longer to make them
/// <directory>/<namespace>/v1/owners/<process>-<start>       one locked file for each cache that writes here
/// <directory>/<namespace>/v1/usage                          the bytes that all of them take together
/// <directory>/<namespace>/v1/index/<a>                      the entries of 16 shards, so that a start needs no scan
/// <directory>/<namespace>/v1/partial                        beginnings of bodies
/// ```
struct CacheLayout: Sendable {
    let directory: String
    let namespace: String
    let versionDirectory: String
    let ownerDirectory: String
    let usagePath: String
    let indexDirectory: String
    let partialDirectory: String

    init(directory: String, namespace: String) {
        self.directory = directory
        self.namespace = directory + "/" + Self.folderName(namespace)
        versionDirectory = self.namespace + "/v1"
        ownerDirectory = versionDirectory + "/owners"
        usagePath = versionDirectory + "/usage"
        indexDirectory = versionDirectory + "/index"
        partialDirectory = versionDirectory + "/partial"
    }

    /// A namespace as a single folder name, which cannot lead elsewhere.
    private static func folderName(_ namespace: String) -> String {
        guard !namespace.isEmpty, namespace.utf8.contains(where: { $0 != UInt8(ascii: ".") }) else {
            return "%" + namespace
        }
        return namespace.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
            ? "%" + KeyDigest.hex(namespace) : namespace
    }

    /// The 256 names of the directories that hold entries.
    static let shardNames: [String] = (0..<256).map { number in
        let digits = String(number, radix: 16)
        return number < 16 ? "0" + digits : digits
    }

    /// The number of the directory with that name; nil for any other name.
    static func shard(named name: String) -> Int? {
        // The name is compared, because `Int(_:radix:)` also accepts signs and capitals.
        guard let shard = Int(name, radix: 16), shardNames.indices.contains(shard), shardNames[shard] == name else {
            return nil
        }
        return shard
    }

    func shardDirectory(_ shard: Int) -> String { versionDirectory + "/" + Self.shardNames[shard] }

    func path(of id: EntryID) -> String { versionDirectory + "/" + Self.name(of: id) }

    /// The path of an entry's file in ``versionDirectory``. One allocation, because every hit needs it.
    static func name(of id: EntryID) -> String {
        String(unsafeUninitializedCapacity: 3 + EntryID.nameLength) { text in
            id.writeName(UnsafeMutableBufferPointer(rebasing: text[3...]))
            (text[0], text[1], text[2]) = (text[3], text[4], UInt8(ascii: "/"))
            return 3 + EntryID.nameLength
        }
    }

    /// Tells backup programs to leave the directory out: https://bford.info/cachedir/.
    static let directoryTag = """
        Signature: 8a477f597d28d172789f06886806bc55
        # This file is a cache directory tag created by WebImage.
        # For information about cache directory tags see https://bford.info/cachedir/

        """

    /// Makes all directories for entries, and the tag. Existing ones are left unchanged, and refused if other users can
    /// change them.
    func makeDirectories(_ files: some FileSystem) throws(FileFault) {
        try Self.makeDirectory(directory, files)
        _ = try checkRoot(files)
        for path in [namespace, versionDirectory, ownerDirectory] {
            try files.makeDirectory(path)
            _ = try checkInner(path, files)
        }
        writeTag(files)
    }

    /// Makes a directory and its parents.
    private static func makeDirectory(_ path: String, _ files: some FileSystem) throws(FileFault) {
        do {
            try files.makeDirectory(path)
        } catch {
            guard error.isMissing, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { throw error }
            try makeDirectory(String(path[..<slash]), files)
            try files.makeDirectory(path)
        }
    }

    /// A cache works without its tag, so failures are ignored.
    private func writeTag(_ files: some FileSystem) {
        guard let file = try? files.open(directory + "/CACHEDIR.TAG", .createNew) else { return }
        defer { files.close(file) }
        var text = Self.directoryTag
        let isWritten = text.withUTF8 { (try? files.writeAll(file, UnsafeRawBufferPointer($0), at: 0)) != nil }
        // An empty tag would stay for ever.
        if !isWritten { try? files.remove(directory + "/CACHEDIR.TAG") }
    }
}
