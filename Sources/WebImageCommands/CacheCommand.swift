import ArgumentParser
import Foundation
import WebImage

/// `webimage cache`: inspects and maintains the disk cache.
struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "Inspect and maintain the disk cache.",
        subcommands: [
            CacheStatsCommand.self, CacheListCommand.self, CachePathCommand.self, CacheVerifyCommand.self,
            CacheTrimCommand.self, CacheRemoveCommand.self, CacheClearCommand.self, CacheImportCommand.self,
        ])
}

struct CacheOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The folder of the disk cache. Default: $XDG_CACHE_HOME/webimage or ~/.cache/webimage.", valueName: "DIR"),
        completion: .directory)
    var cacheDir: String?

    @Flag(help: "Print only JSON, one object per line.")
    var json = false

    mutating func validate() throws { try CacheDirectory.check(cacheDir) }

    /// - Throws: after reporting `cacheIO`, if neither the option nor the environment names a directory that can exist.
    ///
    /// - Parameter tellsWarnings: whether all of the disk cache's warnings about single entries are shown.
    func openCache(tellsWarnings: Bool = false) throws(ExitCode) -> (cache: ImageCache, disk: DiskCache) {
        var configuration = ImageManager.Configuration()
        if let cacheDir {
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: cacheDir, isDirectory: &isFolder), !isFolder.boolValue {
                throw fail(WebImageError(.cacheIO, "this is not a folder", location: cacheDir))
            }
        }
        // The command reports an error in its own words; the manager would log it in words for programs.
        do throws(WebImageError) {
            configuration.disk = try CacheDirectory.configuration(cacheDir)
        } catch { throw fail(error) }
        if tellsWarnings { configuration.disk?.logger = CommandLog.logger(isQuiet: json, tellsAll: true) }
        configuration.answersMemoryPressure = false
        configuration.isolation = .automatic
        let manager = ImageManager(configuration: configuration)
        guard let disk = manager.diskCache else { throw fail(CacheDirectory.missing) }
        return (manager.ownCache, disk)
    }

    /// - Throws: as ``openCache()``.
    func open() throws(ExitCode) -> DiskCache { try openCache().disk }

    /// Reports an error as the command's result. No input beside the message names the folder or file, so that it is
    /// added.
    func fail(_ error: WebImageError) -> ExitCode {
        var error = error
        if let location = error.location, !error.message.contains(location) { error.message += " [\(location)]" }
        if json {
            var line = JSONLine()
            line.add("status", "error")
            line.add("error", PictureReport.errorJSON(error))
            Console.out(line.text)
        } else {
            Console.err("error: \(PictureReport.sentence(error))")
        }
        return someFailed
    }
}

struct CacheStatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Print the number, size and formats of the entries, and the hit rate.")

    @OptionGroup var options: CacheOptions

    func run() async throws {
        let disk = try options.open()
        do throws(WebImageError) {
            let listing = try await disk.list()
            let entries = listing.entries
            var formats: [String: Int] = [:]
            for entry in entries { formats[entry.metadata.format?.rawValue ?? "unknown", default: 0] += 1 }
            let oldest = entries.compactMap(\.metadata.storedAt).min()
            let usage = disk.usage
            options.json
                ? Console.out(json(entries.count, usage, disk.history, oldest, formats))
                : Console.out(plain(entries.count, usage, disk.history, oldest, formats))
            if let failure = listing.failure { throw failure }
        } catch {
            throw options.fail(error)
        }
    }

    private func json(
        _ count: Int, _ usage: DiskUsage, _ history: DiskHistory, _ oldest: Int64?, _ formats: [String: Int]
    ) -> String {
        var line = JSONLine()
        line.add("entries", count)
        line.add("bytes", usage.bytes.bytes)
        line.add("limit_bytes", usage.limit.bytes)
        // As far as loaders have saved these counts.
        line.add("hits", history.hits)
        line.add("misses", history.misses)
        line.add("oldest", oldest)
        var byFormat = JSONLine()
        for (format, count) in formats.sorted(by: { $0.key < $1.key }) { byFormat.add(format, count) }
        line.add("by_format", byFormat)
        return line.text
    }

    private func plain(
        _ count: Int, _ usage: DiskUsage, _ history: DiskHistory, _ oldest: Int64?, _ formats: [String: Int]
    ) -> String {
        var text = "\(count) entries, \(usage.bytes) of \(usage.limit)"
        if let oldest {
            text +=
                ", the oldest stored \(ISO8601DateFormatter().string(from: Date(timeIntervalSince1970: Double(oldest))))"
        }
        if let ratio = history.hitRatio {
            text += "\n\(history.hits) hits, \(history.misses) misses: \(Int((ratio * 100).rounded())) % hits"
        }
        for (format, count) in formats.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            text += "\n  \(format): \(count)"
        }
        return text
    }
}

struct CachePathCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path", abstract: "Print the path of an entry's file.")

    @Argument(help: "The key of the entry. For a picture this is its URL.")
    var key: String

    @OptionGroup var options: CacheOptions

    func run() async throws {
        let disk = try options.open()
        // A URL is looked up in the form under which the loader stores it.
        let original = ImageRequest(argument: key).originalKey
        do throws(WebImageError) {
            for key in [original, CacheKey(key)] {
                if let path = try await disk.path(for: key) { return tell(path, of: key) }
            }
            let known = try await disk.list().entries.compactMap(\.key).first { $0.addsParts(to: original) }
            guard let known, let path = try await disk.path(for: known) else {
                throw WebImageError(.cacheMiss, "there is no entry with this key")
            }
            tell(path, of: known)
        } catch {
            throw options.fail(error)
        }
    }

    private func tell(_ path: String, of key: CacheKey) {
        guard options.json else { return Console.out(path) }
        var line = JSONLine()
        line.add("key", key.text)
        line.add("path", path)
        Console.out(line.text)
    }
}

struct CacheClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "clear", abstract: "Remove every entry.")

    @OptionGroup var options: CacheOptions

    func run() async throws {
        let (cache, disk) = try options.openCache()
        do throws(WebImageError) {
            // If the entries cannot be listed, they are removed nevertheless: clearing then reports the error.
            let count = (try? await disk.list())?.entries.count ?? 0
            // This also removes the stored beginnings of pictures whose download was interrupted.
            try await cache.clear(.disk)
            options.tellRemoved(count)
        } catch {
            throw options.fail(error)
        }
    }
}

/// The value of `--cache-dir`.
enum CacheDirectory {
    /// The error if neither the option nor the environment says where the cache is.
    static let missing = WebImageError(
        .cacheIO, "there is no cache directory: set HOME or XDG_CACHE_HOME, or give --cache-dir")

    static func check(_ path: String?) throws {
        if path?.isEmpty ?? false { throw ValidationError("--cache-dir takes a folder, not an empty name") }
    }

    /// The cache in the folder that the option names, or else the environment.
    ///
    /// - Throws: `cacheIO` if neither names one, or as ``absolute(_:)``.
    static func configuration(_ path: String?) throws(WebImageError) -> DiskCacheConfiguration {
        if let path { return DiskCacheConfiguration(directory: try absolute(path)) }
        guard let usual = ImageManager.Configuration().disk else { throw missing }
        return usual
    }

    /// The path as an absolute one: the cache needs a path that stays valid if the working directory changes.
    ///
    /// - Throws: `cacheIO` if the path is relative and the working directory was deleted.
    static func absolute(_ path: String) throws(WebImageError) -> String {
        if path.hasPrefix("/") { return path }
        let directory = FileManager.default.currentDirectoryPath
        // A relative name would otherwise be one in the root folder.
        guard directory.hasPrefix("/") else {
            throw WebImageError(.cacheIO, "the working directory does not exist any more", location: path)
        }
        return "\(directory)/\(path)"
    }
}
