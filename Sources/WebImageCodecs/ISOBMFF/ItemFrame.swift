#if AVIF || HEIF
    package import WebImageCore

    /// The shown part of a stored picture, and its orientation: its `clap`, `irot` and `imir` properties, in their
    /// order (ISO/IEC 23008-12, 6.5.9, 6.5.10, 6.5.12).
    package struct ItemFrame: Equatable {
        package private(set) var columns: Range<Int>
        package private(set) var rows: Range<Int>
        package private(set) var transforms = ItemTransforms()

        package init(_ size: PixelSize) {
            columns = 0..<size.width
            rows = 0..<size.height
        }

        package var size: PixelSize { PixelSize(width: columns.count, height: rows.count) }

        /// Applies one property of an item; other properties are ignored.
        mutating func apply(_ property: BoxReader.Box, _ boxes: BoxReader) {
            let content = property.content
            switch property.type {
            case "irot": transforms.turn((boxes.integer(at: content.lowerBound, 1, in: content) ?? 0) & 3)
            case "imir":
                if let axis = boxes.integer(at: content.lowerBound, 1, in: content) { mirror(axis: axis & 1) }
            case "clap":
                var fields = BoxFields(boxes, content)
                let numbers = (0..<8).compactMap { _ in fields.next(4) }.map { Int(Int32(truncatingIfNeeded: $0)) }
                guard numbers.count == 8 else { return }
                crop(
                    width: (numbers[0], numbers[1]), height: (numbers[2], numbers[3]), x: (numbers[4], numbers[5]),
                    y: (numbers[6], numbers[7]))
            default: break
            }
        }

        package mutating func turn(_ count: Int) { transforms.turn(count) }
        package mutating func mirror(axis: Int) { transforms.mirror(axis: axis) }

        /// Crops the part shown so far: sizes, and the distance of its centre from that of the whole, as fractions. A
        /// crop that is not within it, or empty, is ignored (ISO/IEC 23000-22, 7.3.6.7).
        package mutating func crop(
            width: (Int, Int), height: (Int, Int), x: (Int, Int), y: (Int, Int)
        ) {
            let shown = transforms.orientation.displaySize(of: size)
            guard var across = Self.part(of: shown.width, width, x), var down = Self.part(of: shown.height, height, y)
            else { return }
            // Reverses the mirroring, then the rotations, each a quarter turn counter-clockwise.
            if transforms.isMirrored { across = shown.width - across.upperBound..<shown.width - across.lowerBound }
            var (whole, turns) = (shown, transforms.turns)
            while turns > 0 {
                (across, down) = (whole.height - down.upperBound..<whole.height - down.lowerBound, across)
                (whole, turns) = (whole.transposed, turns - 1)
            }
            columns = columns.lowerBound + across.lowerBound..<columns.lowerBound + across.upperBound
            rows = rows.lowerBound + down.lowerBound..<rows.lowerBound + down.upperBound
        }

        private static func part(of whole: Int, _ size: (Int, Int), _ offset: (Int, Int)) -> Range<Int>? {
            guard size.1 > 0, offset.1 > 0, size.0 > 0 else { return nil }
            let length = size.0 / size.1
            let start = (whole - length + 2 * offset.0 / offset.1) >> 1
            guard length > 0, start >= 0, length <= whole, start <= whole - length else { return nil }
            return start..<start + length
        }
    }
#endif
