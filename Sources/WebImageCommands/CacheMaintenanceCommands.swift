import ArgumentParser
import Foundation
import WebImage

struct CacheListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Every entry, the least recently used first.")

    @OptionGroup var options: CacheOptions

    func run() async throws {
        let disk = try options.open()
        do throws(WebImageError) {
            for entry in try await disk.entries().sorted(by: { $0.lastUse < $1.lastUse })
            where !Console.isReaderGone {
                Console.out(options.json ? Self.json(entry) : Self.plain(entry))
            }
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
        commandName: "verify", abstract: "Read every entry and hold it against its checksum; bad ones go.",
        discussion: "Exit code 1 when anything was bad, or could not be read.")

    @OptionGroup var options: CacheOptions

    func run() async throws {
        let disk = try options.open()
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
        commandName: "trim", abstract: "Remove what has expired, and the least recently used beyond a size.")

    @Option(
        help: ArgumentHelp(
            "How much may stay, in bytes or with a unit (500M, 2G); without it only what has expired goes.",
            valueName: "SIZE"))
    var maxBytes: ByteCount?

    @OptionGroup var options: CacheOptions

    func run() async throws {
        let disk = try options.open()
        do throws(WebImageError) {
            let before = try await disk.entries().count
            _ = try await disk.removeExpired()
            if let maxBytes { try await disk.trim(to: maxBytes) }
            let left = try await disk.entries().count
            options.tellRemoved(max(before - left, 0))
        } catch {
            throw options.fail(error)
        }
    }
}

struct CacheRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a picture, in every size that is kept; the key is its URL.",
        discussion: "With what was fetched from that URL by other users or with other header fields.")

    @Argument(help: "The key.")
    var key: String

    @OptionGroup var options: CacheOptions

    func run() async throws {
        let disk = try options.open()
        do throws(WebImageError) {
            // A URL is looked up in the form that the loader stores it under.
            let originals = Set([ImageRequest(argument: key).originalKey, CacheKey(key)])
            var count = 0
            for key in originals where try await disk.remove(key) { count += 1 }
            for found in try await disk.entries().compactMap(\.key)
            where originals.contains(where: { found.isMade(of: $0) || found.isOriginal(of: $0) }) {
                if try await disk.remove(found) { count += 1 }
            }
            guard count > 0 else {
                throw WebImageError(.cacheMiss, "there is no entry of that key", location: key)
            }
            options.tellRemoved(count)
        } catch {
            throw options.fail(error)
        }
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
