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
