import ArgumentParser
import WebImage

/// `webimage prefetch`: fills the disk cache, at low priority.
struct PrefetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prefetch",
        abstract: "Load pictures into the disk cache, for later.",
        discussion: """
            What is in the cache already is not loaded again. What comes must be as long as its origin says, and begin as a \
            picture does; --check full decodes each, so that only whole ones are kept.
            A picture that could not be kept, since the disk is full or the origin does not allow it, counts as failed.
            """)

    @Argument(help: "URLs.", completion: .file())
    var urls: [String] = []

    @Option(
        help: ArgumentHelp("A file with one URL a line; - is standard input.", valueName: "FILE|-"), completion: .file()
    )
    var inputList: String?

    @OptionGroup(title: "Loading") var loading: LoadOptions

    @Flag(help: "One JSON object a line for each input.")
    var json = false

    @Option(help: ArgumentHelp("How much to look at before it is kept: header or full.", valueName: "CHECK"))
    var check = CheckOption.header

    @Flag(name: [.short, .long], help: "Tell failures only.")
    var quiet = false

    mutating func validate() throws {
        if urls.isEmpty, inputList == nil { throw ValidationError("give a URL, or --input-list") }
        if loading.policy == CachePolicy.noStore.rawValue {
            throw ValidationError("--policy no-store keeps nothing: there is nothing to prefetch into")
        }
    }

    func run() async throws {
        let inputs = urls + (try InputList.read(inputList))
        let options = try PictureOptions.parse(json ? ["--json"] : [])
        if inputs.isEmpty, !json { Console.err("nothing to load: the list is empty") }
        let isQuiet = quiet || json
        let manager = loading.makeManager(isQuiet: true)
        guard manager.diskCache != nil else {
            PictureReport.fail(inputs, CacheDirectory.missing, json: json)
            throw someFailed
        }
        let display = ProgressDisplay(isOn: isQuiet ? false : nil, total: inputs.count)
        let jobs = inputs.indices.lazy.map { index in
            FetchJob(
                input: inputs[index], index: index, loading: loading, options: options, output: nil, previews: nil,
                manager: manager, display: display, priority: .low, isQuiet: quiet, mustKeep: true,
                check: check == .full ? .full : .header)
        }
        try await FetchJob.runAll(jobs, of: manager, concurrency: loading.concurrency, tellsSummary: !isQuiet)
    }
}
