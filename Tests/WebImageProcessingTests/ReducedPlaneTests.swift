import CPixels
import Testing
import WebImageTesting

/// Planes of samples that are made smaller, compared with the definitions.
@Suite struct ReducedPlaneTests {
    private struct Plane<Sample: FixedWidthInteger & UnsignedInteger & Sendable> {
        let (width, height): (Int, Int)
        var samples: [Sample]

        init(_ width: Int, _ height: Int, _ sample: (_ x: Int, _ y: Int) -> Sample) {
            (self.width, self.height) = (width, height)
            samples = (0..<width * height).map { sample($0 % width, $0 / width) }
        }

        /// The sample at a place; beyond the edges the last one.
        func at(_ x: Int, _ y: Int) -> Int {
            Int(samples[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)])
        }

        func means(_ across: Int, _ down: Int) -> Plane {
            Plane((width + across - 1) / across, (height + down - 1) / down) { x, y in
                var (sum, count) = (0, 0)
                for row in y * down..<min((y + 1) * down, height) {
                    for column in x * across..<min((x + 1) * across, width) {
                        sum += at(column, row)
                        count += 1
                    }
                }
                return Sample((sum + count / 2) / count)
            }
        }

        func half(_ isAcross: Bool, _ isDown: Bool, top: Int) -> Plane {
            let (six, one) = ([-2, 3, 15, 15, 3, -2], [0, 0, 32, 0, 0, 0])
            let (across, down) = (isAcross ? six : one, isDown ? six : one)
            return Plane(isAcross ? (width + 1) / 2 : width, isDown ? (height + 1) / 2 : height) { x, y in
                var sum = 512
                for index in 0..<36 where across[index % 6] != 0 && down[index / 6] != 0 {
                    let (column, row) = ((isAcross ? 2 * x : x) + index % 6 - 2, (isDown ? 2 * y : y) + index / 6 - 2)
                    sum += across[index % 6] * down[index / 6] * at(column, row)
                }
                return Sample(min(max(sum >> 10, 0), top))
            }
        }
    }

    /// Noise, so that every sample counts and the filter exceeds the range.
    private static func noise<Sample: FixedWidthInteger & UnsignedInteger & Sendable>(
        _ width: Int, _ height: Int, _ generator: inout SeededGenerator, top: Sample
    ) -> Plane<Sample> {
        Plane(width, height) { _, _ in
            let value = Sample(truncatingIfNeeded: generator.next()) & top
            return value & 3 == 0 ? (value & 4 == 0 ? 0 : top) : value
        }
    }

    private static let sizes = [(1, 1), (2, 3), (3, 2), (7, 9), (64, 5), (515, 4), (1027, 3)]

    @Test(arguments: [(2, 2), (4, 4), (1, 2), (2, 1), (3, 5), (16, 16)]) func meansAreRounded(across: Int, down: Int) {
        var generator = SeededGenerator(seed: 7)
        for (width, height) in Self.sizes {
            let bytes = Self.noise(width, height, &generator, top: UInt8.max)
            var found = bytes.means(across, down)
            let wanted = found.samples
            found.samples = found.samples.map { _ in 77 }
            let stride = found.width
            found.samples.withUnsafeMutableBufferPointer {
                wi_mean_plane_8($0.baseAddress!, stride, bytes.samples, width, width, height, across, down)
            }
            #expect(found.samples == wanted, "\(width)x\(height)")
            let deep = Self.noise(width, height, &generator, top: UInt16.max)
            var deepFound = [UInt16](repeating: 77, count: wanted.count)
            deepFound.withUnsafeMutableBufferPointer {
                wi_mean_plane_16($0.baseAddress!, stride, deep.samples, width, width, height, across, down)
            }
            #expect(deepFound == deep.means(across, down).samples, "\(width)x\(height), 16 bits")
        }
    }

    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
    func halvesAreFilteredOverSixSamples(isAcross: Bool, isDown: Bool) {
        var generator = SeededGenerator(seed: 8)
        for (width, height) in Self.sizes {
            let bytes = Self.noise(width, height, &generator, top: UInt8.max)
            let wanted = bytes.half(isAcross, isDown, top: 255)
            var found = [UInt8](repeating: 77, count: wanted.samples.count)
            found.withUnsafeMutableBufferPointer {
                wi_halve_plane_8(
                    $0.baseAddress!, wanted.width, bytes.samples, width, width, height, isAcross ? 1 : 0,
                    isDown ? 1 : 0, 255)
            }
            #expect(found == wanted.samples, "\(width)x\(height)")
            let deep = Self.noise(width, height, &generator, top: UInt16(1023))
            var deepFound = [UInt16](repeating: 77, count: wanted.samples.count)
            deepFound.withUnsafeMutableBufferPointer {
                wi_halve_plane_16(
                    $0.baseAddress!, wanted.width, deep.samples, width, width, height, isAcross ? 1 : 0,
                    isDown ? 1 : 0, 1023)
            }
            #expect(deepFound == deep.half(isAcross, isDown, top: 1023).samples, "\(width)x\(height), 10 bits")
        }
    }
}
