#if AVIF || HEIF
    package import WebImageCore

    /// The combined effect of an item's `irot` and `imir` properties (ISO/IEC 23008-12, 6.5.10 and 6.5.12): quarter
    /// turns counter-clockwise, then possibly a mirroring left to right.
    package struct ItemTransforms: Equatable {
        package private(set) var turns = 0
        package private(set) var isMirrored = false

        /// Adds `count` quarter turns counter-clockwise after the previous transforms.
        package mutating func turn(_ count: Int) {
            // A turn after a mirroring equals the opposite turn before it.
            turns = (turns + (isMirrored ? 4 - count & 3 : count & 3)) & 3
        }

        /// Adds a mirroring: left to right for axis 1, top to bottom for axis 0.
        package mutating func mirror(axis: Int) {
            // Top to bottom equals left to right and a half turn, in any order.
            if axis == 0 { turns = (turns + 2) & 3 }
            isMirrored.toggle()
        }

        package var orientation: Orientation {
            let plain: [Orientation] = [.up, .left, .down, .right]
            let mirrored: [Orientation] = [.upMirrored, .rightMirrored, .downMirrored, .leftMirrored]
            return isMirrored ? mirrored[turns] : plain[turns]
        }

        /// The properties for an orientation; the turns come first.
        package init(_ orientation: Orientation = .up) {
            switch orientation {
            case .up: (turns, isMirrored) = (0, false)
            case .upMirrored: (turns, isMirrored) = (0, true)
            case .down: (turns, isMirrored) = (2, false)
            case .downMirrored: (turns, isMirrored) = (2, true)
            case .leftMirrored: (turns, isMirrored) = (3, true)
            case .right: (turns, isMirrored) = (3, false)
            case .rightMirrored: (turns, isMirrored) = (1, true)
            case .left: (turns, isMirrored) = (1, false)
            }
        }
    }
#endif
