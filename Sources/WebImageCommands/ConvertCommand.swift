import ArgumentParser
import Foundation
import WebImage

/// `webimage convert`: converts pictures to other files.
struct ConvertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Convert pictures to another size or format.",
        usage: "webimage convert [<options>] <input> ... <output>",
        discussion: """
            The name of the output determines its format, unless --format is given. With several inputs the output is a \
            folder: each picture gets its input's name there, and its format, unless --format is given. By default the \
            orientation tag is applied, colours are converted to sRGB, and metadata is removed. 16 bits a channel are kept if the output's \
            format supports them; animations are written with 8. With a PNG output, --orientation keep --color keep \
            preserves the stored pixels exactly.

            Steps for --transform:

            \(ImageTransform.usages.map(shown).joined(separator: "\n"))
            """)

    /// The syntax of a step in lines that fit a terminal of 80 columns.
    private static func shown(_ usage: String) -> String {
        var lines = ["  "]
        for (index, part) in usage.split(separator: "[:").enumerated() {
            let text = index == 0 ? String(part) : "[:" + part
            if lines[lines.count - 1].count + text.count > 78 { lines.append("      ") }
            lines[lines.count - 1] += text
        }
        return lines.joined(separator: "\n")
    }

    @Argument(
        help: ArgumentHelp(
            "The inputs: files, URLs, or - for standard input; and then the output: a file, a folder, or - for standard output.",
            valueName: "input> ... <output"), completion: .file())
    var paths: [String]

    @OptionGroup(title: "Picture") var picture: PictureOptions
    @OptionGroup var decoders: IsolationOptions
    @OptionGroup var writing: ConvertOptions
    @OptionGroup var limits: InputOptions

    @Option(
        help: ArgumentHelp(
            "A file with one input per line; - is standard input. Lines that begin with # are skipped.",
            valueName: "FILE|-"),
        completion: .file())
    var inputList: String?

    @Flag(name: [.short, .long], help: "Print only failures.")
    var quiet = false

    private var output: String { paths.last ?? "" }

    mutating func validate() throws {
        let inputs = paths.dropLast()
        if inputs.isEmpty, inputList == nil { throw ValidationError("give an input and an output") }
        if output.isEmpty { throw ValidationError("the output is a file or a folder, not an empty name") }
        if OutputFiles.isStandardOutput(output) { paths[paths.count - 1] = "-" }
        try InputBytes.checkReadsOnce(Array(inputs), list: inputList)
        if output == "-", inputs.count > 1 || inputList != nil {
            throw ValidationError("the output - takes one input")
        }
        if output == "-", picture.json { throw ValidationError("output - and --json both need standard output") }
    }

    func run() async throws {
        let inputs = Array(paths.dropLast()) + (try InputList.read(inputList))
        try InputBytes.checkReadsOnce(inputs, list: inputList)
        if inputs.isEmpty, !picture.json { Console.err("nothing to convert: the list is empty") }
        let isQuiet = quiet || picture.json
        let manager = ImageManager(configuration: .withoutCaches(decoders, isQuiet: isQuiet))
        let destinations: OutputDestinations
        let transforms: [ImageTransform]
        do throws(WebImageError) {
            transforms = try await picture.transforms.load(by: manager, limits)
            destinations = try OutputDestinations(
                output, inputs: inputs, files: InputFiles(inputs, list: inputList), options: picture,
                isConverting: true)
        } catch {
            // If no output is possible, every input has failed, and is reported as failed.
            PictureReport.fail(inputs, error, json: picture.json)
            throw someFailed
        }
        let display = ProgressDisplay(isOn: isQuiet || output == "-" ? false : nil, total: inputs.count)
        let jobs = inputs.indices.lazy.compactMap { index in
            destinations.place(at: index).map { place in
                ConvertJob(
                    input: inputs[index], index: index, output: place, picture: picture, writing: writing,
                    limits: limits, transforms: transforms, manager: manager, display: display, isQuiet: quiet)
            }
        }
        let begin = ContinuousClock.now
        // Each job has a whole picture in memory while it writes it, and decoders and encoders use all cores.
        let concurrency = max(2, ProcessInfo.processInfo.activeProcessorCount)
        let tally = await ListTally.running(jobs, concurrency: concurrency)
        try tally.tell(of: inputs.count, since: begin, tellsSummary: !isQuiet)
    }
}
