import Foundation
import WebImage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

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
    ///   - isConverting: whether every picture is encoded again. Then no output in a folder may replace its input, and
    ///     pictures in formats without an encoder become PNGs.
    /// - Throws: `cannotWrite` and the like.
    init(
        _ output: String?, inputs: [String], options: PictureOptions, isConverting: Bool = false
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
        let files = InputFiles(inputs)
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
}

/// The inputs that are local files. No output may replace one before it is read.
struct InputFiles {
    private struct Identity: Hashable {
        let device: UInt64
        let number: UInt64

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, number) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
        }
    }

    private var inputs: [Identity: Int] = [:]

    init(_ inputs: [String]) {
        for (index, input) in inputs.enumerated() {
            let path = input.lowercased().hasPrefix("file:") ? URL(string: input)?.path ?? input : input
            if let identity = Identity(path) { self.inputs[identity] = index }
        }
    }

    /// - Parameter own: the input whose output has this path, and which may be replaced; nil if there is none.
    /// - Throws: `cannotWrite` if the path is one of the inputs.
    func checkIsNoInput(_ path: String, except own: Int?) throws(WebImageError) {
        guard !inputs.isEmpty, let identity = Identity(path), let input = inputs[identity], input != own else { return }
        throw WebImageError(
            .cannotWrite, "'\(Console.shown(path))' is one of the inputs, which the output would replace",
            location: path)
    }
}
