#if AVIF || HEIF
    import WebImageCodecs

    /// Writes HEIF files box by box, including files that no real writer would make.
    enum HEIFMaker {
        struct Item {
            var id: Int
            var type = "hvc1"
            /// The numbers of the item's properties, counted from 1.
            var properties: [Int] = []
            var data: [UInt8] = []
            /// The stated places of the data; nil for the true place.
            var extents: [(offset: Int, length: Int)]?
        }

        static func file(
            primary: Int? = 1, items: [Item], properties: [[UInt8]],
            references: [(type: String, from: Int, to: [Int])] = [], brand: String = "heic", dataFirst: Bool = false,
            behind more: [UInt8] = []
        ) -> [UInt8] {
            let type = box("ftyp", Array(brand.utf8) + [0, 0, 0, 0] + Array("mif1".utf8))
            let data = box("mdat", items.flatMap(\.data))
            let length = meta(primary, items, properties, references, more, start: 0).count
            let start = type.count + (dataFirst ? 0 : length) + 8
            let meta = meta(primary, items, properties, references, more, start: start)
            return type + (dataFirst ? data + meta : meta + data)
        }

        private static func meta(
            _ primary: Int?, _ items: [Item], _ properties: [[UInt8]],
            _ references: [(type: String, from: Int, to: [Int])], _ more: [UInt8], start: Int
        ) -> [UInt8] {
            var content = number(0, 4) + box("hdlr", number(0, 8) + Array("pict".utf8) + number(0, 13))
            if let primary { content += box("pitm", number(0, 4) + number(primary, 2)) }
            var places = number(0, 4) + [0x44, 0] + number(items.count, 2)
            var offset = start
            for item in items {
                let extents = item.extents ?? [(offset, item.data.count)]
                places += number(item.id, 2) + [0, 0] + number(extents.count, 2)
                places += extents.flatMap { number($0.offset, 4) + number($0.length, 4) }
                offset += item.data.count
            }
            content += box("iloc", places)
            let infos = items.flatMap {
                box("infe", [2, 0, 0, 0] + number($0.id, 2) + [0, 0] + Array($0.type.utf8) + [0])
            }
            content += box("iinf", number(0, 4) + number(items.count, 2) + infos)
            let links = items.flatMap { item in
                number(item.id, 2) + [UInt8(item.properties.count)] + item.properties.map { UInt8($0) }
            }
            content += box(
                "iprp",
                box("ipco", properties.flatMap { $0 }) + box("ipma", number(0, 4) + number(items.count, 4) + links))
            if !references.isEmpty {
                content += box(
                    "iref",
                    number(0, 4)
                        + references.flatMap { reference in
                            box(
                                reference.type,
                                number(reference.from, 2) + number(reference.to.count, 2)
                                    + reference.to.flatMap { number($0, 2) })
                        })
            }
            return box("meta", content + more)
        }

        static func box(_ type: String, _ content: [UInt8]) -> [UInt8] { BoxWriter.box(type, content) }
        static func number(_ value: Int, _ length: Int) -> [UInt8] { BoxWriter.number(value, length) }

        static func size(_ width: Int, _ height: Int) -> [UInt8] {
            box("ispe", number(0, 4) + number(width, 4) + number(height, 4))
        }

        static func crop(width: Int, height: Int, twiceX: Int, twiceY: Int) -> [UInt8] {
            box("clap", [width, 1, height, 1, twiceX, 2, twiceY, 2].flatMap { number($0, 4) })
        }

        static func grid(rows: Int, columns: Int, _ width: Int, _ height: Int) -> [UInt8] {
            [0, 1, UInt8(rows - 1), UInt8(columns - 1)] + number(width, 4) + number(height, 4)
        }

        /// - Parameters:
        ///   - fill: red, green, blue and alpha, 16 bits each.
        ///   - places: the first column and row of each picture.
        static func overlay(
            fill: [Int], _ width: Int, _ height: Int, isLong: Bool = false, places: [(x: Int, y: Int)]
        ) -> [UInt8] {
            let length = isLong ? 4 : 2
            let sides = [width, height] + places.flatMap { [$0.x, $0.y] }
            return [0, isLong ? 1 : 0] + fill.flatMap { number($0, 2) } + sides.flatMap { number($0, length) }
        }

        static func configuration(_ sets: [[UInt8]]) -> [UInt8] {
            var content: [UInt8] = [1] + [UInt8](repeating: 0, count: 20) + [3, UInt8(sets.count)]
            for unit in sets { content += [unit[0] >> 1 | 0x80, 0, 1] + number(unit.count, 2) + unit }
            return box("hvcC", content)
        }

        /// A sequence parameter set (H.265, 7.3.2.2) with its NAL unit header.
        static func sequenceSet(
            _ width: Int, _ height: Int, chroma: Int = 1, depth: Int = 8, references: Int = 0, layers: Int = 0,
            window: [Int]? = nil
        ) -> [UInt8] {
            var bits: [Bool] = []
            func put(_ value: Int, _ count: Int) {
                for index in (0..<count).reversed() { bits.append(value >> index & 1 == 1) }
            }
            func golomb(_ value: Int) {
                let length = Int.bitWidth - (value + 1).leadingZeroBitCount
                put(0, length - 1)
                put(value + 1, length)
            }
            put(0, 4)
            put(layers, 3)
            put(1, 1)
            for byte in [1, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 30] { put(byte, 8) }
            if layers > 0 {
                for layer in 0..<8 { put(layer < layers ? 3 : 0, 2) }
                for _ in 0..<layers { for byte in 0..<12 { put(byte, 8) } }
            }
            golomb(0)
            golomb(chroma)
            if chroma == 3 { put(0, 1) }
            golomb(width)
            golomb(height)
            put(window == nil ? 0 : 1, 1)
            for value in window ?? [] { golomb(value) }
            golomb(depth - 8)
            golomb(depth - 8)
            golomb(4)
            put(1, 1)
            for _ in 0...layers { for value in [references, 0, 0] { golomb(value) } }
            for value in [0, 3, 0, 3, 0, 0] { golomb(value) }
            put(0x80, 8)
            while bits.count % 8 != 0 { bits.append(false) }
            var unit: [UInt8] = [33 << 1, 1]
            var zeros = 0
            for start in stride(from: 0, to: bits.count, by: 8) {
                let byte = bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
                if zeros >= 2, byte <= 3 {
                    unit.append(3)
                    zeros = 0
                }
                zeros = byte == 0 ? zeros + 1 : 0
                unit.append(byte)
            }
            return unit
        }

        /// NAL units, each preceded by its length.
        static func data(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { number($0.count, 4) + $0 } }
    }

    /// The configuration and data of a file with one `hvc1` item, from which tests build other files.
    struct HEIFParts {
        let configuration: [UInt8]
        let data: [UInt8]

        /// Takes a file with one picture that libheif wrote. Nil if the parts are not found.
        init?(_ file: [UInt8]) {
            guard let start = Self.place(of: "hvcC", in: file), let data = Self.place(of: "mdat", in: file) else {
                return nil
            }
            configuration = Array(file[start..<start + Self.length(at: start, in: file)])
            self.data = Array(file[data + 8..<data + Self.length(at: data, in: file)])
        }

        private static func place(of type: String, in file: [UInt8]) -> Int? {
            let name = Array(type.utf8)
            return (4..<file.count - 4).first { Array(file[$0..<$0 + 4]) == name }.map { $0 - 4 }
        }

        private static func length(at offset: Int, in file: [UInt8]) -> Int {
            file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
        }
    }
#endif
