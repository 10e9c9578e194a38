import Foundation
import WebImage

/// The path of each input's output.
struct OutputDestinations {
    struct Place {
        var path: String
        /// Whether the user named the file; otherwise it is named after the input.
        var isNamed: Bool
    }

    private var places: [Place] = []

    /// Chooses the paths, and makes the folder if there are several outputs.
    ///
    /// - Parameters:
    ///   - output: a file for one input, or a folder; nil if nothing is written.
    ///   - files: the files of the inputs and their list, which no output may replace.
    ///   - isConverting: whether every picture is encoded again. Then no output in a folder may replace its input, and
    ///     pictures in formats without an encoder become PNGs.
    /// - Throws: `cannotWrite` and the like.
    init(
        _ output: String?, inputs: [String], files: InputFiles, options: PictureOptions, isConverting: Bool = false
    ) throws(WebImageError) {
        guard let output else { return }
        // Standard output, even if there is a folder of that name.
        guard output != "-" else {
            places = [Place(path: output, isNamed: true)]
            return
        }
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: output, isDirectory: &isFolder)
        guard inputs.count > 1 || (exists && isFolder.boolValue) || output.hasSuffix("/") else {
            if !inputs.isEmpty { try files.checkIsNoList(output) }
            places = [Place(path: output, isNamed: true)]
            return
        }
        if inputs.isEmpty { return }
        if exists, !isFolder.boolValue {
            throw WebImageError(
                .cannotWrite, "'\(Console.shown(output))' is not a folder; several inputs need a folder as output",
                location: output)
        }
        try OutputFiles.makeDirectory(output)
        var names = OutputNames()
        let folder = output.hasSuffix("/") ? output : output + "/"
        places = inputs.map { input in
            let name = names.next(
                for: input, fileExtension: options.outputFormat?.fileExtension,
                isWrittenAnew: options.changesPicture || isConverting || options.firstFrame)
            return Place(path: folder + name, isNamed: false)
        }
        // Only with its own bytes may an output replace its input.
        let isChanged = isConverting || options.changesPicture || options.firstFrame
        for (index, place) in places.enumerated() {
            try files.checkIsNoInput(place.path, except: isChanged ? nil : index)
        }
    }

    func place(at index: Int) -> Place? { index < places.count ? places[index] : nil }

    var paths: [String] { places.map(\.path) }

    /// - Throws: `cannotWrite` if the file that is written to the path would replace an output.
    func checkIsNoOutput(_ path: String) throws(WebImageError) {
        guard let place = FilePlace(path) else { return }
        let identity = FileIdentity(path)
        for output in paths {
            let isSameFile = identity != nil && FileIdentity(output) == identity
            guard isSameFile || FilePlace(output) == place else { continue }
            throw WebImageError(
                .cannotWrite, "'\(Console.shown(path))' is one of the outputs, which this file would replace",
                location: path)
        }
    }
}
