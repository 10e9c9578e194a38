import ArgumentParser
import Foundation
import WebImage

/// `webimage cache import`: what an app with SDWebImage had in its cache.
struct CacheImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Copy pictures from a cache folder that SDWebImage wrote.",
        discussion: """
            DIR is <caches>/com.hackemist.SDImageCache/<namespace>. Its files do not contain their URLs, so only the \
            pictures of the given URLs are found. DIR is not changed.
            """)

    @Argument(help: ArgumentHelp("The folder that SDWebImage wrote.", valueName: "DIR"), completion: .directory)
    var folder: String

    @Argument(help: ArgumentHelp("The URLs of the pictures to copy.", valueName: "URL"))
    var urls: [String] = []

    @Option(
        help: ArgumentHelp("A file with one URL per line; - is standard input.", valueName: "FILE|-"),
        completion: .file()
    )
    var inputList: String?

    @OptionGroup var options: CacheOptions

    func validate() throws {
        if urls.isEmpty, inputList == nil { throw ValidationError("give a URL, or --input-list") }
    }

    func run() async throws {
        let keys = (urls + (try InputList.read(inputList))).map { ImageRequest(argument: $0).originalKey }
        let disk = try options.open()
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw options.fail(WebImageError(.fileNotFound, "there is no such folder", location: folder))
        }
        do throws(WebImageError) {
            let count = try await disk.importSDWebImage(CacheDirectory.absolute(folder), keys: keys)
            if options.json {
                var line = JSONLine()
                line.add("imported", count)
                line.add("asked", keys.count)
                Console.out(line.text)
            } else {
                Console.out("\(count) of \(keys.count) imported")
            }
        } catch {
            throw options.fail(error)
        }
        for key in keys where try await disk.path(for: key) == nil { throw someFailed }
    }
}
