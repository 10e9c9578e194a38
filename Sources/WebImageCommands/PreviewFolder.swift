import WebImage

/// The folder of `--progressive`, and the files that no preview may replace.
struct PreviewFolder: Sendable {
    private let folder: String
    private let inputs: InputFiles
    private let outputs: Set<FilePlace>

    /// Makes the folder if there is none.
    ///
    /// - Parameter outputs: the paths of the command's other outputs.
    /// - Throws: `cannotWrite` and the like.
    init(_ folder: String, inputs: InputFiles, outputs: [String]) throws(WebImageError) {
        try OutputFiles.makeDirectory(folder)
        (self.folder, self.inputs) = (folder, inputs)
        self.outputs = Set(outputs.compactMap { FilePlace($0) })
    }

    /// The path of a preview. If an input or another output has that path, the name gets a number.
    func path(ofPreview number: Int, of input: String, at index: Int) -> String {
        var names = OutputNames()
        while true {
            let path = "\(folder)/" + names.next(for: input, fileExtension: "\(index + 1).\(number).png")
            let isOutput = FilePlace(path).map { outputs.contains($0) } ?? false
            if !isOutput, !inputs.contains(path) { return path }
        }
    }
}

/// Writes the previews of one input. If one cannot be written, no further ones are tried.
struct PreviewWriter {
    let folder: PreviewFolder
    let input: String
    let index: Int
    let manager: ImageManager
    private var count = 0
    /// Why a preview could not be written.
    private(set) var failure: WebImageError?

    init(folder: PreviewFolder, input: String, index: Int, manager: ImageManager) {
        (self.folder, self.input, self.index, self.manager) = (folder, input, index, manager)
    }

    mutating func write(_ preview: Image) async {
        guard failure == nil else { return }
        count += 1
        do throws(WebImageError) {
            let bytes = try await manager.encode(preview, as: .png)
            try OutputFiles.write(bytes, to: folder.path(ofPreview: count, of: input, at: index))
        } catch {
            failure = error
        }
    }
}
