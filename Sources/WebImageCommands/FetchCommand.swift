import ArgumentParser
import Foundation
import WebImage

/// `webimage fetch`: loads pictures through the caches, and writes them to files or only caches them.
struct FetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Load pictures and write them to files.",
        discussion: """
            Without options that change the picture, -o writes the original bytes. The picture is decoded anyway, so that a \
            damaged picture is an error and no file is written; with --check header only its header is read. With several \
            inputs, -o must be a folder.

            Without -o, pictures are loaded into the cache and checked, but not written.
            """)

    @Argument(help: "URLs or paths; - is standard input.", completion: .file())
    var urls: [String] = []

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("The output: a file, a folder, or - for standard output.", valueName: "FILE|DIR"),
        completion: .file())
    var output: String?

    @OptionGroup(title: "Picture") var picture: PictureOptions
    @OptionGroup(title: "Loading") var loading: LoadOptions

    @Option(
        help: ArgumentHelp("A folder for PNG previews, written while a picture arrives.", valueName: "DIR"),
        completion: .directory
    )
    var progressive: String?

    @Option(
        help: ArgumentHelp(
            "A file with one URL or path per line; - is standard input. Lines that begin with # are skipped.",
            valueName: "FILE|-"),
        completion: .file()
    )
    var inputList: String?

    @Option(
        help: ArgumentHelp(
            "How much of a picture is checked before it is written unchanged: header or full.", valueName: "CHECK"))
    var check = CheckOption.full

    @Flag(help: "Print the stages of each load and their times on standard error.")
    var trace = false

    @Option(
        help: ArgumentHelp(
            "Write the stages of all loads as JSON for the trace viewers of Chrome and Perfetto.",
            valueName: "FILE"), completion: .file())
    var traceFile: String?

    @Flag(name: [.short, .long], help: "Print only failures.")
    var quiet = false

    mutating func validate() throws {
        if urls.isEmpty, inputList == nil { throw ValidationError("give a URL, or --input-list") }
        if needsHeaderOnly, trace || traceFile != nil {
            throw ValidationError("--trace and --trace-file need decoded pictures, but --check header does not decode")
        }
        if traceFile == "-" { throw ValidationError("--trace-file takes a file; --trace prints on standard error") }
        if output?.isEmpty ?? false { throw ValidationError("-o takes a file or a folder, not an empty name") }
        if let named = output, OutputFiles.isStandardOutput(named) { output = "-" }
        try InputBytes.checkReadsOnce(urls, list: inputList)
        if output == "-", urls.count > 1 || inputList != nil { throw ValidationError("-o - takes one input") }
        if output == "-", picture.json { throw ValidationError("-o - and --json both need standard output") }
    }

    /// Whether the original bytes are written unchanged, and reading the header is a sufficient check.
    private var needsHeaderOnly: Bool {
        check == .header && output != nil && !picture.changesPicture && !picture.firstFrame && progressive == nil
    }

    func run() async throws {
        let inputs = urls + (try InputList.read(inputList))
        try InputBytes.checkReadsOnce(inputs, list: inputList)
        if inputs.isEmpty, !picture.json { Console.err("nothing to load: the list is empty") }
        let isQuiet = quiet || picture.json
        let manager = loading.makeManager(isQuiet: isQuiet, warns: !isQuiet)
        let files = InputFiles(inputs, list: inputList)
        let destinations: OutputDestinations
        var previews: PreviewFolder?
        let transforms: [ImageTransform]
        do throws(WebImageError) {
            transforms = try await picture.transforms.load(by: manager, loading.inputs)
            destinations = try OutputDestinations(output, inputs: inputs, files: files, options: picture)
            if let progressive {
                previews = try PreviewFolder(
                    progressive, inputs: files, outputs: destinations.paths + [traceFile].compactMap(\.self))
            }
            if let traceFile {
                try files.checkIsNoInput(traceFile, except: nil)
                try destinations.checkIsNoOutput(traceFile)
            }
        } catch {
            // If no output is possible, every input has failed, and is reported as failed.
            PictureReport.fail(inputs, error, json: picture.json)
            throw someFailed
        }
        let display = ProgressDisplay(isOn: isQuiet || output == "-" ? false : nil, total: inputs.count)
        let traces = TraceOutput(isPrinted: trace, file: traceFile)
        let jobs = inputs.indices.lazy.map { [previews] index in
            FetchJob(
                input: inputs[index], index: index, loading: loading, options: picture,
                output: destinations.place(at: index), previews: previews, manager: manager, display: display,
                transforms: transforms, isQuiet: quiet, traces: traces, check: needsHeaderOnly ? .header : nil)
        }
        var failure: (any Error)?
        do {
            let begin = ContinuousClock.now
            let tally = await ListTally.running(jobs, concurrency: loading.concurrency)
            await LoadOptions.finish(manager)
            try tally.tell(of: jobs.count, since: begin, tellsSummary: !isQuiet)
        } catch {
            failure = error
        }
        do throws(WebImageError) { try traces?.finish() } catch {
            Console.err("error: \(PictureReport.sentence(error))")
            failure = failure ?? someFailed
        }
        if let failure { throw failure }
    }
}

/// How thoroughly an original is checked.
enum CheckOption: String, ExpressibleByArgument, CaseIterable {
    case header
    case full
}
