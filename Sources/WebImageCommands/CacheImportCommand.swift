import ArgumentParser
import Foundation
import WebImage

/// `webimage cache import`: imports the pictures that an app with SDWebImage has cached.
struct CacheImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Copy pictures from a cache folder that SDWebImage wrote.",
        discussion: """
            DIR is <caches>/com.hackemist.SDImageCache/<namespace>. Its files do not contain their URLs, so only the \
            pictures of the given URLs are found; write them as the app did. Keys of an app's own are taken, too. DIR is \
            not changed, and what is in the cache already stays. The exit code is 1 if a picture is not in the cache then.
            """)

    @Argument(help: ArgumentHelp("The folder that SDWebImage wrote.", valueName: "DIR"), completion: .directory)
    var folder: String

    @Argument(help: ArgumentHelp("The URLs of the pictures to copy.", valueName: "URL"))
    var urls: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file with one URL per line; - is standard input. Lines that begin with # are skipped.",
            valueName: "FILE|-"),
        completion: .file()
    )
    var inputList: String?

    @OptionGroup var options: CacheOptions

    func validate() throws {
        if urls.isEmpty, inputList == nil { throw ValidationError("give a URL, or --input-list") }
    }

    func run() async throws {
        let pictures = (urls + (try InputList.read(inputList))).map(Self.picture)
        let disk = try options.open()
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw options.fail(WebImageError(.fileNotFound, "there is no such folder", location: folder))
        }
        // Opening files by their names needs permission to search the folder.
        guard FileManager.default.isExecutableFile(atPath: folder) else {
            throw options.fail(WebImageError(.permissionDenied, "this folder may not be read", location: folder))
        }
        var missing: [SDWebImagePicture] = []
        do throws(WebImageError) {
            let count = try await disk.importSDWebImage(
                try CacheDirectory.absolute(folder), pictures.filter { !$0.isOfOneUser })
            for picture in pictures where try await disk.path(for: picture.key) == nil { missing.append(picture) }
            tell(imported: count, of: pictures.count, missing, hasRoom: disk.statistics.skippedStores == 0)
        } catch {
            throw options.fail(error)
        }
        if !missing.isEmpty { throw someFailed }
    }

    /// The picture for an argument, which is a URL or else a key that a program chose.
    private static func picture(of argument: String) -> SDWebImagePicture {
        let isURL = PictureReport(input: argument).isURL
        return SDWebImagePicture(
            key: isURL ? ImageRequest(argument: argument).originalKey : CacheKey(argument), name: argument)
    }

    private func tell(imported count: Int, of asked: Int, _ missing: [SDWebImagePicture], hasRoom: Bool) {
        guard !options.json else {
            var line = JSONLine()
            line.add("imported", count)
            line.add("asked", asked)
            line.add("missing", missing.map(\.name))
            return Console.out(line.text)
        }
        for picture in missing {
            let why =
                picture.isOfOneUser
                ? "SDWebImage does not tell which user got it" : "the folder has no such picture that can be read"
            let room = hasRoom || picture.isOfOneUser ? "" : ", or the disk cache has no room for it"
            Console.err("error    \(PictureReport(input: picture.name).shownInput): \(why)\(room)")
        }
        let known = asked - count - missing.count
        Console.out("\(count) of \(asked) imported" + (known > 0 ? ", \(known) already in the cache" : ""))
    }
}

extension SDWebImagePicture {
    /// Whether the URL names a user. The picture is then served only if it is known that it was loaded for the same
    /// user.
    fileprivate var isOfOneUser: Bool { key.text.contains(CacheKey.partSeparator) }
}
