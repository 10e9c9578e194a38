#if PDF
    import CShimPDF

    /// The streams of a PDF in file order (ISO 32000-1, 7.3.8).
    struct PDFStreams {
        /// A stream and the dictionary before it.
        struct Stream {
            let dictionary: UnsafeRawBufferPointer
            let data: UnsafeRawBufferPointer

            var isImage: Bool { has("/Image") && has("/Width") }

            /// Whether it may be page content: it is not a font, a table or a bitmap.
            var isContent: Bool {
                !isImage && !Self.others.contains { has($0) }
            }

            private static let others: [StaticString] = [
                "/Length1", "/XRef", "/ObjStm", "/Metadata", "/Type1C", "/CIDFontType0C",
            ]

            /// The number of pixels of a bitmap.
            var pixels: Int {
                let pixels = number("/Width").multipliedReportingOverflow(by: number("/Height"))
                return pixels.overflow ? .max : pixels.partialValue
            }

            /// Calls `body` with the unpacked bytes, of which there are at most `most`.
            func withContent<Result>(most: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
                guard has("/FlateDecode") || has("/Fl "), let base = data.baseAddress else {
                    return body(UnsafeRawBufferPointer(rebasing: data.prefix(most)))
                }
                let output = UnsafeMutableRawBufferPointer.allocate(byteCount: max(most, 1), alignment: 16)
                defer { output.deallocate() }
                let count = output.assumingMemoryBound(to: UInt8.self).baseAddress.map {
                    wi_pdf_inflate(base.assumingMemoryBound(to: UInt8.self), data.count, $0, most)
                }
                return body(UnsafeRawBufferPointer(rebasing: output[..<(count ?? 0)]))
            }

            private func has(_ name: StaticString) -> Bool { find(name) != nil }

            private func find(_ name: StaticString) -> Int? { PDFStreams.find(name, in: dictionary, from: 0) }

            /// What a side that is stored elsewhere in the file counts as: more than that of most bitmaps.
            private static let largestIndirect = 8192

            /// The number after a name; 0 if there is none.
            private func number(_ name: StaticString) -> Int {
                guard var at = find(name) else { return 0 }
                at += name.utf8CodeUnitCount
                while at < dictionary.count, dictionary[at] <= 0x20 { at += 1 }
                var value = 0
                while at < dictionary.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= dictionary[at], value < 1 << 40 {
                    value = value * 10 + Int(dictionary[at] - 48)
                    at += 1
                }
                return isReference(dictionary[at...]) ? Self.largestIndirect : value
            }

            /// Whether a number is followed by another one and an R.
            private func isReference(_ rest: Slice<UnsafeRawBufferPointer>) -> Bool {
                let digits = rest.drop { $0 <= 0x20 }
                let after = digits.drop { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
                return after.count < digits.count && after.drop { $0 <= 0x20 }.first == UInt8(ascii: "R")
            }
        }

        /// Longer dictionaries are rare, and only their end is scanned.
        private static let maxDictionaryLength = 4096

        private let file: UnsafeRawBufferPointer
        private var at = 0

        init(_ file: UnsafeRawBufferPointer) { self.file = file }

        mutating func next() -> Stream? {
            while let mark = Self.find("stream", in: file, from: at) {
                var start = mark + 6
                let isEnd = mark >= 3 && file[mark - 1] == UInt8(ascii: "d")
                at = start
                guard !isEnd, start < file.count, file[start] == 0x0D || file[start] == 0x0A else { continue }
                start += file[start] == 0x0D && start + 1 < file.count && file[start + 1] == 0x0A ? 2 : 1
                let end = Self.find("endstream", in: file, from: start) ?? file.count
                at = end
                return Stream(dictionary: dictionary(before: mark), data: slice(start, end))
            }
            return nil
        }

        /// The bytes between the object's number and its stream.
        private func dictionary(before mark: Int) -> UnsafeRawBufferPointer {
            let least = max(mark - Self.maxDictionaryLength, 0)
            var start = mark
            while start > least {
                let next = slice(start, min(start + 3, mark))
                if file[start] == UInt8(ascii: "o"), Self.find("obj", in: next, from: 0) == 0 { break }
                start -= 1
            }
            return slice(start, mark)
        }

        private func slice(_ from: Int, _ to: Int) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: file[min(from, to)..<to])
        }

        static func find(_ mark: StaticString, in text: UnsafeRawBufferPointer, from: Int) -> Int? {
            let (first, count) = (mark.utf8Start[0], mark.utf8CodeUnitCount)
            var index = from
            outer: while index <= text.count - count {
                defer { index += 1 }
                guard text[index] == first else { continue }
                for offset in 1..<count where text[index + offset] != mark.utf8Start[offset] { continue outer }
                return index
            }
            return nil
        }
    }
#endif
