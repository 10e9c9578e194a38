import WebImageCore

/// Which part of a picture is kept when it is cropped, and where a picture is placed on a larger one.
public enum Gravity: Hashable, Sendable {
    case center, top, bottom, left, right, topLeft, topRight, bottomLeft, bottomRight
    /// Around a point of interest: 0 is the left or top edge, 1 the right or bottom one. The kept part is centred on
    /// the point, as far as the edges allow.
    case focus(x: Double, y: Double)
    /// The part that catches the eye: strong edges, strong colours and skin tones count. For cropping only; for placing
    /// a picture on another one it means ``center``.
    case smart
}

extension Gravity {
    /// The position of a part, in whole pixels. It lies within the picture if it fits.
    func place(of part: PixelSize, in whole: PixelSize) -> (x: Int, y: Int) {
        let room = (x: Double(whole.width - part.width), y: Double(whole.height - part.height))
        let start: (x: Double, y: Double)
        switch self {
        case .focus(let x, let y):
            start = (
                Double(whole.width) * x - Double(part.width) / 2, Double(whole.height) * y - Double(part.height) / 2
            )
        default:
            let shares = shares
            start = (room.x * shares.x, room.y * shares.y)
        }
        func pixel(_ start: Double, _ room: Double) -> Int {
            let within = min(max(start.isFinite ? start : 0, min(room, 0)), max(room, 0))
            return Int(within.rounded(.down))
        }
        return (pixel(start.x, room.x), pixel(start.y, room.y))
    }

    /// The shares of the free space to the left and above.
    private var shares: (x: Double, y: Double) {
        switch self {
        case .center, .smart, .focus: (0.5, 0.5)
        case .top: (0.5, 0)
        case .bottom: (0.5, 1)
        case .left: (0, 0.5)
        case .right: (1, 0.5)
        case .topLeft: (0, 0)
        case .topRight: (1, 0)
        case .bottomLeft: (0, 1)
        case .bottomRight: (1, 1)
        }
    }
}
