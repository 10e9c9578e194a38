import CShimSandbox
import WebImageCore
import WebImageProcessing

/// Requests to a worker. Each call of a decoder is one of these, and ends with one of ``WorkerReply``.
enum WorkerRequest: UInt8 {
    /// With ``StillOpening``. Not answered.
    case openStill = 1
    /// With ``AnimationOpening``. Not answered.
    case openAnimation
    /// With ``InputPiece``. A second one may be sent before the first is answered; it is not answered if the first one
    /// of a still fails.
    case push
    case finish
    /// The answer to a header, with ``PlanAnswer``.
    case plan
    /// How many rows were taken, with ``RowsTaken``. Not answered.
    case taken
    case preview
    /// With the number of the frame.
    case frame
    /// With the number of the frame.
    case firstFrameNeeded
    /// Not answered.
    case close
    /// With ``ProfileAsked``. Concerns no picture.
    case colors
    /// With the length of the file whose descriptor is sent along, which is the whole picture. Answered like ``push``.
    case file
    /// With ``EncoderOpening``. Not answered.
    case openEncoder
    /// With ``PictureToEncode``; its pixels follow. Not answered.
    case picture
    /// With ``InputPiece``: the next bytes of the pixels. After the last ones the picture is encoded, or added to an
    /// animation. Answered by ``WorkerReply/nothing`` or ``WorkerReply/failed``.
    case pixels
    /// Answered by ``WorkerReply/file`` or ``WorkerReply/failed``.
    case encode
}

/// Messages of a worker.
enum WorkerReply: UInt8 {
    /// The first message, with ``WorkerHello``.
    case hello = 101
    /// With `ImageHeader`. Waits for the plan.
    case header
    /// The rows to come, with `RowFormat`.
    case begin
    /// With ``RowRun``.
    case rows
    /// A picture that the decoder has created, such as a preview or a frame: its `RowFormat`. Its rows follow, then
    /// ``nothing``.
    case pixels
    /// The end of a call.
    case nothing
    /// The end of a call.
    case number
    /// The end of a call, with ``StillState``.
    case still
    /// The end of a call, with ``AnimationState``.
    case animation
    /// With the error. It ends a call of a decoder for stills; for animations, ``animation`` follows.
    case failed
    /// Before ``failed``: the known header of a still that is damaged or too large, with `ImageHeader`.
    case learned
    /// The end of a call, with ``ProfileRead``.
    case colors
    /// The ring has no room for more rows: asks how many the host has taken.
    case waiting
    /// The end of a call, with the bytes of the encoded file.
    case file
}

struct WorkerHello: WireValue {
    /// Both ends are usually the same file; `webimage-decoder` next to a program may be older.
    static let currentVersion = 4

    var version = Self.currentVersion
    var hasSeccomp: Bool
    /// The version of landlock's interface, 0: none.
    var landlock: Int
    /// Why the worker could not confine itself; 0: it is confined.
    var fault = 0

    func write(to writer: inout WireWriter) {
        writer.put(version)
        writer.put(hasSeccomp)
        writer.put(landlock)
        writer.put(fault)
    }

    init(hasSeccomp: Bool, landlock: Int, fault: Int = 0) {
        self.hasSeccomp = hasSeccomp
        self.landlock = landlock
        self.fault = fault
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        version = try reader.int()
        hasSeccomp = try reader.bool()
        landlock = try reader.int()
        fault = try reader.int()
    }
}

struct StillOpening: WireValue {
    /// ``ImageCoder/key``.
    var coder: String
    var options: DecodeOptions

    func write(to writer: inout WireWriter) {
        writer.put(coder)
        writer.put(options)
    }

    init(coder: String, options: DecodeOptions) {
        self.coder = coder
        self.options = options
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        coder = try reader.string()
        options = try reader.value()
    }
}

struct AnimationOpening: WireValue {
    var opening: StillOpening
    var format: ImageFormat

    func write(to writer: inout WireWriter) {
        writer.put(opening)
        writer.put(format)
    }

    init(coder: String, options: DecodeOptions, format: ImageFormat) {
        opening = StillOpening(coder: coder, options: options)
        self.format = format
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        opening = try reader.value()
        format = try reader.value()
    }
}

struct PlanAnswer: WireValue {
    /// nil: the header is refused, and the decode ends.
    var plan: DecodePlan?
    var wantsRows = false
    /// Whether the sink keeps the whole picture.
    var keepsWhole = false

    func write(to writer: inout WireWriter) {
        writer.put(plan)
        writer.put(wantsRows)
        writer.put(keepsWhole)
    }

    init(_ plan: DecodePlan?, wantsRows: Bool = false, keepsWhole: Bool = false) {
        self.plan = plan
        self.wantsRows = wantsRows
        self.keepsWhole = keepsWhole
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        plan = try reader.optionalValue()
        wantsRows = try reader.bool()
        keepsWhole = try reader.bool()
    }
}

/// Bytes in the shared input.
struct InputPiece: WireValue {
    var offset: Int
    var count: Int

    var isWithinInput: Bool {
        (0...SharedMemory.inputCount).contains(offset) && (0...SharedMemory.inputCount - offset).contains(count)
    }

    func write(to writer: inout WireWriter) {
        writer.put(offset)
        writer.put(count)
    }

    init(offset: Int, count: Int) {
        self.offset = offset
        self.count = count
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        self.init(offset: try reader.int(), count: try reader.int())
    }
}

/// Rows in the ring.
struct RowRun: WireValue {
    var row: Int
    var count: Int
    /// Whether the rows begin at the ring's start, because there was no room after the last ones.
    var wraps: Bool

    func write(to writer: inout WireWriter) {
        writer.put(row)
        writer.put(count)
        writer.put(wraps)
    }

    init(row: Int, count: Int, wraps: Bool) {
        self.row = row
        self.count = count
        self.wraps = wraps
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        self.init(row: try reader.int(), count: try reader.int(), wraps: try reader.bool())
    }
}

struct RowsTaken: WireValue {
    /// How many bytes of rows were taken since the beginning.
    var bytes: Int
    /// `RowSink.wantsRows`.
    var wantsMore: Bool

    func write(to writer: inout WireWriter) {
        writer.put(bytes)
        writer.put(wantsMore)
    }

    init(bytes: Int, wantsMore: Bool) {
        self.bytes = bytes
        self.wantsMore = wantsMore
    }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        self.init(bytes: try reader.int(), wantsMore: try reader.bool())
    }
}

/// The state of a still after a call.
struct StillState: WireValue {
    /// The header, if it differs from the last reported one.
    var header: ImageHeader?
    var mayExtendHeader = false
    var mayFindLateMetadata = false
    /// The decoder's `DecodeState`; both are false if it needs bytes.
    var isComplete = false
    var hasStoppedAtHeader = false

    func write(to writer: inout WireWriter) {
        writer.put(header)
        writer.put(mayExtendHeader)
        writer.put(mayFindLateMetadata)
        writer.put(isComplete)
        writer.put(hasStoppedAtHeader)
    }

    init() {}

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        header = try reader.optionalValue()
        mayExtendHeader = try reader.bool()
        mayFindLateMetadata = try reader.bool()
        isComplete = try reader.bool()
        hasStoppedAtHeader = try reader.bool()
    }
}

/// A colour profile to convert to a table.
struct ProfileAsked: WireValue {
    var profile: [UInt8]

    func write(to writer: inout WireWriter) { writer.put(profile) }

    init(profile: [UInt8]) { self.profile = profile }

    init(from reader: inout WireReader) throws(WireReader.Fault) { profile = try reader.bytes() }
}

struct ProfileRead: WireValue {
    /// nil: the profile cannot be used.
    var table: ProfileTable?

    func write(to writer: inout WireWriter) {
        writer.put(table) { writer, table in
            writer.put(table.space.rawValue)
            writer.put(table.levels.withUnsafeBytes { Array($0) })
        }
    }

    init(table: ProfileTable?) { self.table = table }

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        typealias Fault = WireReader.Fault
        table = try reader.optional { (reader) throws(Fault) in
            guard let space = ProfileTable.Space(rawValue: try reader.byte()) else { throw Fault() }
            let bytes = try reader.bytes()
            let levels = bytes.withUnsafeBytes { bytes in
                (0..<bytes.count / 2).map { bytes.loadUnaligned(fromByteOffset: 2 * $0, as: UInt16.self) }
            }
            guard let table = ProfileTable(space, levels) else { throw Fault() }
            return table
        }
    }
}

/// The state of an animation after a call.
struct AnimationState: WireValue {
    /// The header, if it differs from the last reported one.
    var header: ImageHeader?
    /// The delays after those that were reported.
    var newDelays: [Duration] = []
    var beginsWithStill = true
    var workingByteCount = 0

    func write(to writer: inout WireWriter) {
        writer.put(header)
        writer.put(newDelays) { $0.put($1) }
        writer.put(beginsWithStill)
        writer.put(workingByteCount)
    }

    init() {}

    init(from reader: inout WireReader) throws(WireReader.Fault) {
        typealias Fault = WireReader.Fault
        header = try reader.optionalValue()
        newDelays = try reader.array(ofAtLeast: 16) { (reader) throws(Fault) in try reader.duration() }
        beginsWithStill = try reader.bool()
        workingByteCount = try reader.int()
    }
}

extension Int: WireValue {
    func write(to writer: inout WireWriter) { writer.put(self) }

    init(from reader: inout WireReader) throws(WireReader.Fault) { self = try reader.int() }
}
