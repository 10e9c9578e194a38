import ArgumentParser
import Foundation
import WebImage

struct CacheListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List all entries, the least recently used first.")

    @OptionGroup var options: CacheOptions

    func run() async throws {
        let disk = try options.open()
        do throws(WebImageError) {
            let listing = try await disk.list()
            for entry in listing.entries.sorted(by: { $0.lastUse < $1.lastUse }) where !Console.isReaderGone {
                Console.out(options.json ? Self.json(entry) : Self.plain(entry))
            }
            if let failure = listing.failure { throw failure }
        } catch {
            throw options.fail(error)
        }
    }

    private static func json(_ entry: DiskEntryInfo) -> String {
        var line = JSONLine()
        line.add("key", entry.key?.text)
        line.add("path", entry.path)
        line.add("bytes", entry.bodyLength.bytes)
        line.add("format", entry.metadata.format?.rawValue)
        line.add("stored", entry.metadata.storedAt)
        line.add("used", entry.lastUse)
        line.add("expires", entry.expires)
        return line.text
    }

    private static func plain(_ entry: DiskEntryInfo) -> String {
        let used = Date(timeIntervalSince1970: Double(entry.lastUse))
        let format = entry.metadata.format?.rawValue ?? "?"
        let key = entry.key.map { Console.shown($0.text) } ?? "(key not kept)"
        return "\(ISO8601DateFormatter().string(from: used))  \(format)  \(entry.bodyLength)  \(key)"
    }
}

struct CacheVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check every entry against its checksum, and remove damaged ones.",
        discussion: "The exit code is 1 if an entry was damaged or could not be read.")

    @OptionGroup var options: CacheOptions

    func run() async throws {
        let disk = try options.openCache(tellsWarnings: true).disk
        let report: DiskVerification
        do throws(WebImageError) { report = try await disk.verify() } catch { throw options.fail(error) }
        if options.json {
            var line = JSONLine()
            line.add("checked", report.checked)
            line.add("bad", report.bad)
            line.add("orphans", report.orphans)
            line.add("repaired", report.repaired)
            if report.unreadable > 0 { line.add("unreadable", report.unreadable) }
            Console.out(line.text)
        } else {
            var text =
                "\(report.checked) checked, \(report.bad) bad, \(report.orphans) orphans, \(report.repaired) repaired"
            if report.unreadable > 0 { text += ", \(report.unreadable) could not be read" }
            Console.out(text)
        }
        if report.bad + report.unreadable > 0 { throw someFailed }
    }
}

struct CacheTrimCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trim", abstract: "Remove expired entries, and the least recently used ones beyond a size.")

    @Option(
        help: ArgumentHelp(
            "The most bytes to keep, with or without a unit (500M, 2G). Default: only expired entries are removed.",
            valueName: "SIZE"))
    var maxBytes: ByteCount?

    @OptionGroup var options: CacheOptions

    func run() async throws {
        let disk = try options.open()
        do throws(WebImageError) {
            // If the entries cannot be listed, the cache is trimmed nevertheless; the error is reported at the end.
            let before = (try? await disk.list())?.entries.count ?? 0
            _ = try await disk.removeExpired()
            if let maxBytes { try await disk.trim(to: maxBytes) }
            let left = try await disk.list().entries.count
            options.tellRemoved(max(before - left, 0))
        } catch {
            throw options.fail(error)
        }
    }
}

struct CacheRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a picture in all its sizes.",
        discussion: "Also removes what was loaded from the same URL for other users or with other headers.")

    @Argument(help: "The key of the entry. For a picture this is its URL.")
    var key: String

    @OptionGroup var options: CacheOptions

    func run() async throws {
        let (cache, disk) = try options.openCache()
        do throws(WebImageError) {
            // A URL is looked up in the form under which the loader stores it.
            let originals = Set([ImageRequest(argument: key).originalKey, CacheKey(key)])
            var removed = Removed()
            for key in originals {
                await removed.remove(key, from: disk)
                // A picture whose download was interrupted has only a beginning and no entry.
                let beginnings = await cache.removeBeginnings(of: key)
                removed.add(beginnings.count, beginnings.failure)
            }
            let listing = try await disk.list()
            for found in listing.entries.compactMap(\.key)
            where originals.contains(where: { found.isSameOrVariant(of: $0) || found.addsParts(to: $0) }) {
                await removed.remove(found, from: disk)
            }
            let count = removed.count
            // What could not be read may be an entry of this picture.
            if let failure = removed.failure ?? listing.failure {
                if count > 0 { options.tellRemoved(count) }
                throw failure
            }
            guard count > 0 else {
                throw WebImageError(.cacheMiss, "there is no entry with this key")
            }
            options.tellRemoved(count)
        } catch {
            throw options.fail(error)
        }
    }
}

/// What was removed, and the first error: an entry that cannot be removed does not keep the others.
private struct Removed {
    private(set) var count = 0
    private(set) var failure: WebImageError?

    mutating func add(_ count: Int, _ failure: WebImageError?) {
        self.count += count
        self.failure = self.failure ?? failure
    }

    mutating func remove(_ key: CacheKey, from disk: DiskCache) async {
        do throws(WebImageError) { if try await disk.remove(key) { count += 1 } } catch { add(0, error) }
    }
}

extension CacheOptions {
    func tellRemoved(_ count: Int) {
        guard json else { return Console.out(count == 1 ? "1 entry removed" : "\(count) entries removed") }
        var line = JSONLine()
        line.add("removed", count)
        Console.out(line.text)
    }
}
