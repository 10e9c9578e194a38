import ArgumentParser
import Foundation
import WebImage
import WebImageSystem

/// `webimage show`: draws pictures in the terminal.
struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Draw pictures in the terminal.",
        discussion: """
            Pictures are drawn with kitty's graphics protocol or with sixels if the terminal supports them, otherwise with \
            half-block characters. A picture that is too large is scaled to fit the terminal. If the output is a pipe or a \
            file, half blocks are used, 80 columns wide. Of an animation, the first frame is drawn.
            """)

    @Argument(help: "Files or URLs; - is standard input.", completion: .file())
    var inputs: [String]

    @Option(
        name: .customLong("protocol"),
        help: ArgumentHelp(
            "How pictures are drawn: auto, kitty, sixel or blocks.", valueName: "NAME"),
        completion: .list(["auto"] + Terminal.Language.allCases.map(\.rawValue)))
    var language = "auto"

    @Option(
        help: ArgumentHelp(
            "The size to fit into, in pixels, never wider than the terminal. With blocks, a character is 1x2 pixels.",
            valueName: "WxH|Wx|xH"))
    var size: String?

    @Flag(help: "Draw only the first frame of an animation. This is always the case at present.")
    var firstFrame = false

    @Flag(help: "Load the pictures without drawing them, and print only JSON, one object per line.")
    var json = false

    @OptionGroup(title: "Loading") var loading: LoadOptions

    mutating func validate() throws {
        guard language == "auto" || Terminal.Language(rawValue: language) != nil else {
            throw ValidationError("--protocol takes auto, kitty, sixel or blocks")
        }
        _ = try PictureOptions.sides(of: size)
        try InputBytes.checkReadsOnce(inputs)
    }

    func run() async throws {
        let terminal = Terminal.standardOutput()
        // With --json nothing is drawn, so that the terminal need not be asked.
        let language =
            Terminal.Language(rawValue: language) ?? (json ? .blocks : terminal.language { Terminal.askAttributes() })
        let size = DrawingSize(try PictureOptions.sides(of: size), language, terminal)
        let show = PictureShow(terminal, language, size, loading: loading, isJSON: json)
        let allWell = await show.run(inputs)
        await LoadOptions.finish(show.manager)
        if !allWell { throw someFailed }
    }
}

/// The pictures of one run, loaded several at once and drawn in order.
struct PictureShow: Sendable {
    let loading: LoadOptions
    let isJSON: Bool
    let terminal: Terminal
    let language: Terminal.Language
    let size: DrawingSize
    let manager: ImageManager
    let display: ProgressDisplay
    /// Drawing runs on threads of its own.
    private let pool = ThreadPool.computing(name: "wi-draw", width: Processors.count)

    init(
        _ terminal: Terminal, _ language: Terminal.Language, _ size: DrawingSize, loading: LoadOptions, isJSON: Bool
    ) {
        self.loading = loading
        self.isJSON = isJSON
        self.terminal = terminal
        self.language = language
        self.size = size
        manager = loading.makeManager(isQuiet: isJSON, warns: !isJSON)
        display = ProgressDisplay(isOn: isJSON ? false : nil)
    }

    /// The result of one input.
    private struct Answer: Sendable {
        var report: PictureReport
        /// The bytes to send to the terminal; nil if there is nothing to draw.
        var drawing: [UInt8]?
    }

    /// - Returns: whether all inputs succeeded.
    func run(_ inputs: [String]) async -> Bool {
        await withTaskGroup(of: (Int, Answer).self) { group in
            var (ready, begun, told, allWell) = ([Int: Answer](), 0, 0, true)
            while told < inputs.count, !Console.isReaderGone {
                // Loads run at most `concurrency` inputs ahead of the drawing, so that drawings do not accumulate.
                while begun < inputs.count, begun < told + loading.concurrency {
                    let index = begun
                    display.begin(index, name: PictureReport(input: inputs[index]).shownInput)
                    group.addTask { (index, await answer(inputs[index], index)) }
                    begun += 1
                }
                guard let (index, answer) = await group.next() else { break }
                ready[index] = answer
                while let answer = ready.removeValue(forKey: told) {
                    display.end(told) { tell(answer) }
                    allWell = allWell && answer.report.status == .ok
                    told += 1
                }
            }
            group.cancelAll()
            return allWell
        }
    }

    private func answer(_ input: String, _ index: Int) async -> Answer {
        var answer = Answer(report: PictureReport(input: input))
        do throws(WebImageError) {
            let response = try await load(input, index)
            answer.report.take(response)
            if !isJSON { answer.drawing = try await drawing(of: response.image) }
        } catch {
            answer.report.fail(error)
        }
        return answer
    }

    private func load(_ input: String, _ index: Int) async throws(WebImageError) -> ImageResponse {
        var request = try await loading.makeRequest(input)
        request.size = size.target
        request.decoding.allowsPartial = true
        var cached: ImageResponse?
        for await event in manager.events(for: request) {
            switch event {
            case .progress(let progress): display.show(progress, of: index)
            case .preview: break
            // With the policy `refresh`, the cached picture is shown if the origin cannot be reached.
            case .cached(let response): cached = response
            case .finished(.success(let response)): return response
            case .finished(.failure(let error)):
                guard let cached, error.leavesCachedPicture else { throw error }
                return cached
            }
        }
        throw .cancelled
    }

    private func drawing(of image: Image) async throws(WebImageError) -> [UInt8] {
        try await pool.answer(.normal) { () throws(WebImageError) in try draw(image) }
    }

    private func draw(_ image: Image) throws(WebImageError) -> [UInt8] {
        let fitted = try size.fitted(image)
        switch language {
        case .kitty:
            let png = try fitted.encoded(as: .png, EncodeOptions(compressionLevel: 3))
            return KittyDrawing.bytes(png: png, columns: terminal.cell == nil ? columns(of: fitted) : nil)
        case .sixel:
            let bitmap = try Bitmap(fitted, background: terminal.background)
            return SixelDrawing.bytes(of: bitmap, by: MedianCutPalette.self)
        case .blocks:
            let bitmap = try Bitmap(fitted, background: terminal.background)
            return BlockDrawing.bytes(of: bitmap, hasTrueColor: terminal.hasTrueColor)
        }
    }

    /// The width of a picture in letters, if the size of letters is unknown.
    private func columns(of image: Image) -> Int {
        min(max(1, (image.size.width + Terminal.usualCell.width / 2) / Terminal.usualCell.width), terminal.columns)
    }

    private func tell(_ answer: Answer) {
        let report = answer.report
        if isJSON { return Console.out(report.json) }
        if let drawing = answer.drawing {
            Console.out(bytes: drawing)
            Console.out(Self.caption(report))
        }
        if report.status != .ok { Console.err(report.plain) }
    }

    /// The line under a picture.
    static func caption(_ report: PictureReport) -> String {
        guard let header = report.header else { return report.shownInput }
        var parts = ["\(report.shownInput): \(Console.shown(header.format.rawValue)) \(header.displaySize)"]
        if let frames = header.frameCount, frames > 1 { parts.append("the first of \(frames) frames") }
        if let byteCount = report.byteCount { parts.append(ByteCount(byteCount).description) }
        if report.status == .partial { parts.append("cut short") }
        return parts.joined(separator: ", ")
    }
}
