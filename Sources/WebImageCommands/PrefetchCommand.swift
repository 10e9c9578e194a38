import ArgumentParser
import Synchronization
import WebImage

/// `webimage prefetch`: fills the disk cache, at low priority.
struct PrefetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prefetch",
        abstract: "Load pictures into the disk cache for later use.",
        discussion: """
            Pictures that are in the cache already are not loaded again. A loaded picture must be complete and have a valid \
            header; with --check full it is also decoded, so that no damaged picture is stored.

            A picture that cannot be stored, for example because the disk is full or the server forbids it, counts as \
            failed. Local files are not copied into the cache. If the pictures need more room than the cache has, later \
            ones replace earlier ones, and the command says how many.

            With --rate or --budget, 4 pictures are loaded at once unless --concurrency is given.

            To continue an interrupted run, run the same command again. An interrupted picture is continued, too.
            """)

    @Argument(help: "The URLs of the pictures.", completion: .file())
    var urls: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file with one URL per line; - is standard input. Lines that begin with # are skipped.",
            valueName: "FILE|-"),
        completion: .file()
    )
    var inputList: String?

    @OptionGroup(title: "Loading") var loading: LoadOptions

    @Flag(help: "Print only JSON, one object per line for each input.")
    var json = false

    @Option(
        help: ArgumentHelp("How much of a picture is checked before it is stored: header or full.", valueName: "CHECK"))
    var check = CheckOption.header

    @Option(
        help: ArgumentHelp(
            "The most bytes per second, on average, with or without a unit: 500k, 2M. A running load is not slowed down.",
            valueName: "SIZE"))
    var rate: ByteCount?

    @Option(
        help: ArgumentHelp(
            "The most bytes to load, with or without a unit: 500M. To load the rest, run the same command again.",
            valueName: "SIZE"))
    var budget: ByteCount?

    @Flag(name: [.short, .long], help: "Print only failures.")
    var quiet = false

    mutating func validate() throws {
        if urls.isEmpty, inputList == nil { throw ValidationError("give a URL, or --input-list") }
        if loading.policy == CachePolicy.noStore.rawValue {
            throw ValidationError("--policy no-store keeps nothing, so that pictures cannot be prefetched")
        }
        try Self.checkCanBeStored(urls)
        if let rate, rate.bytes < 1 { throw ValidationError("--rate takes 1 or more") }
        if let budget, budget.bytes < 1 { throw ValidationError("--budget takes 1 or more") }
    }

    func run() async throws {
        let inputs = urls + (try InputList.read(inputList))
        try Self.checkCanBeStored(inputs)
        if inputs.isEmpty, !json { Console.err("nothing to load: the list is empty") }
        let isQuiet = quiet || json
        do throws(WebImageError) {
            _ = try CacheDirectory.configuration(loading.cacheDir)
        } catch {
            PictureReport.fail(inputs, error, json: json)
            throw someFailed
        }
        let manager = loading.makeManager(isQuiet: true, warns: !isQuiet)
        let begin = ContinuousClock.now
        let list = PrefetchReports(
            inputs: inputs, display: ProgressDisplay(isOn: isQuiet ? false : nil, total: inputs.count), json: json,
            isQuiet: quiet)
        let token = ImagePrefetcher(manager: manager, options: options(for: inputs)).prefetch(
            count: inputs.count,
            request: { [loading] index throws(WebImageError) in
                loading.makeRequest(unread: inputs[index], priority: .low)
            },
            onEvent: list.take)
        // The reader has closed the pipe, so that no more is loaded.
        list.whenReaderIsGone { token.cancel() }
        _ = await token.finished()
        await LoadOptions.finish(manager)
        await tellEvicted(Set(list.stored.map { inputs[$0] }), by: manager)
        try list.tally.tell(of: inputs.count, since: begin, tellsSummary: !isQuiet, tellsLeft: !quiet)
    }

    /// - Throws: `ValidationError` if an input is standard input, which no cache keeps.
    private static func checkCanBeStored(_ inputs: [String]) throws {
        guard inputs.contains("-") else { return }
        throw ValidationError("pictures from standard input cannot be prefetched; give URLs")
    }

    /// Says how many pictures of the list had to make room for later ones.
    private func tellEvicted(_ stored: Set<String>, by manager: ImageManager) async {
        let requests = stored.lazy.map { loading.makeRequest(unread: $0, priority: .low) }
        let count = await Self.countEvicted(requests, by: manager)
        guard count > 0, let limit = manager.diskCache?.usage.limit else { return }
        Console.err(
            "warning: the cache holds at most \(limit): \(count) of these pictures were removed from it again, to make "
                + "room for later ones")
    }

    /// Counts the pictures that the disk cache of a manager does not have any more because it evicted entries.
    static func countEvicted(_ requests: some Sequence<ImageRequest>, by manager: ImageManager) async -> Int {
        guard let disk = manager.diskCache, disk.statistics.evictions > 0 else { return 0 }
        var count = 0
        for request in requests where (try? await disk.contains(request.originalKey)) == false { count += 1 }
        return count
    }

    private func options(for inputs: [String]) -> PrefetchOptions {
        var options = PrefetchOptions()
        options.destination = .disk(check: check == .full ? .full : .header)
        // More would only wait for each other, and spend their time (`--timeout`) in a queue.
        let most = Set(inputs.lazy.compactMap(LoadOptions.host)).count * 2 * LoadOptions.perHost
        let width = min(loading.concurrency, max(most, 1))
        // With a budget or a rate, only few loads run at a time, so that it is exceeded only slightly.
        options.width = loading.exactConcurrency ?? (budget == nil && rate == nil ? width : 4)
        options.priority = loading.priority(orElse: .low)
        (options.bytesPerSecond, options.byteBudget) = (rate, budget)
        return options
    }
}

/// Reports the results of a list's pictures.
private final class PrefetchReports: Sendable {
    private struct State {
        var tally = ListTally()
        var stored: [Int] = []
        var onReaderGone: (@Sendable () -> Void)?
    }

    private let inputs: [String]
    private let display: ProgressDisplay
    private let json: Bool
    private let isQuiet: Bool
    private let state = Mutex(State())

    init(inputs: [String], display: ProgressDisplay, json: Bool, isQuiet: Bool) {
        (self.inputs, self.display, self.json, self.isQuiet) = (inputs, display, json, isQuiet)
    }

    var tally: ListTally { state.withLock { $0.tally } }
    /// The inputs that were stored or found in the disk cache, by index.
    var stored: [Int] { state.withLock { $0.stored } }

    func whenReaderIsGone(_ run: @escaping @Sendable () -> Void) { state.withLock { $0.onReaderGone = run } }

    func take(_ event: PrefetchEvent) {
        switch event {
        case .began(let index): display.begin(index, name: PictureReport(input: inputs[index]).shownInput)
        case .transfer(let index, let progress): display.show(progress, of: index)
        case .item(let item, _): take(item)
        case .finished: break
        }
    }

    private func take(_ item: PrefetchedItem) {
        if Console.isReaderGone {
            state.withLock { $0.onReaderGone }?()
            return
        }
        var report = PictureReport(input: inputs[item.index])
        if let original = item.original { report.take(original) }
        if case .failed(let error) = item.outcome { report.fail(error) }
        let isWell = report.status == .ok
        let isStored = isWell && [.network, .disk].contains(report.source)
        state.withLock {
            $0.tally.add(report)
            if isStored { $0.stored.append(item.index) }
        }
        display.end(item.index, isWell: isWell) { [report, json, isQuiet] in
            if !isWell || !isQuiet || json { report.tell(json: json, plain: report.plain) }
        }
    }
}
