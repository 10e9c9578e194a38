import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageCodecs

/// The details of a photograph that are read from EXIF.
@Suite struct PhotoDetailsTests {
    /// An EXIF block as a camera writes it.
    private struct Camera {
        var isBigEndian = true
        var details: [TIFFLayout.Field] = []
        var position: [TIFFLayout.Field] = []
        private var mainFields: [TIFFLayout.Field] = []

        init(isBigEndian: Bool = true) { self.isBigEndian = isBigEndian }

        var layout: TIFFLayout { TIFFLayout(isBigEndian: isBigEndian) }

        func text(_ tag: UInt16, _ text: String) -> TIFFLayout.Field {
            TIFFLayout.Field(tag: tag, type: 2, count: text.utf8.count + 1, value: Array(text.utf8) + [0])
        }

        func rationals(_ tag: UInt16, _ values: [(Int, Int)]) -> TIFFLayout.Field {
            let bytes = values.flatMap { layout.ordered($0.0, length: 4) + layout.ordered($0.1, length: 4) }
            return TIFFLayout.Field(tag: tag, type: 5, count: values.count, value: bytes)
        }

        func short(_ tag: UInt16, _ value: Int) -> TIFFLayout.Field {
            TIFFLayout.Field(tag: tag, type: 3, count: 1, value: layout.ordered(value, length: 2))
        }

        mutating func add(_ field: TIFFLayout.Field) { mainFields.append(field) }

        var block: [UInt8] {
            let order: UInt8 = isBigEndian ? 0x4D : 0x49
            var bytes = [order, order] + layout.ordered(42, length: 2) + [0, 0, 0, 0]
            var fields = mainFields
            if !details.isEmpty { fields.append(layout.link(0x8769, to: layout.append(details, to: &bytes))) }
            if !position.isEmpty { fields.append(layout.link(0x8825, to: layout.append(position, to: &bytes))) }
            bytes.replaceSubrange(4..<8, with: layout.ordered(layout.append(fields, to: &bytes), length: 4))
            return bytes
        }
    }

    private func camera(isBigEndian: Bool) -> Camera {
        var camera = Camera(isBigEndian: isBigEndian)
        camera.add(camera.text(271, "NIKON CORPORATION  "))
        camera.add(camera.text(272, "NIKON D750"))
        camera.add(camera.text(306, "2024:06:01 10:00:00"))
        camera.add(camera.text(315, "Ada"))
        camera.add(camera.text(33432, "CC0"))
        camera.details = [
            camera.rationals(0x829A, [(1, 250)]), camera.rationals(0x829D, [(28, 10)]), camera.short(0x8827, 400),
            camera.text(0x9003, "2024:05:17 09:30:01"), camera.text(0x9011, "+02:00"),
            camera.rationals(0x920A, [(50, 1)]), camera.text(0xA434, "50mm f/1.8"),
        ]
        camera.position = [
            camera.text(1, "S"), camera.rationals(2, [(33, 1), (52, 1), (3000, 100)]), camera.text(3, "W"),
            camera.rationals(4, [(151, 1), (12, 1), (0, 1)]),
            TIFFLayout.Field(tag: 5, type: 1, count: 1, value: [1]), camera.rationals(6, [(5, 2)]),
        ]
        return camera
    }

    @Test(arguments: [true, false])
    func aCamerasFieldsAreReadInBothByteOrders(isBigEndian: Bool) throws {
        let photo = try #require(ImageMetadata(exif: camera(isBigEndian: isBigEndian).block).photo)
        #expect(photo.cameraMaker == "NIKON CORPORATION" && photo.cameraModel == "NIKON D750")
        #expect(photo.lensModel == "50mm f/1.8" && photo.artist == "Ada" && photo.copyright == "CC0")
        #expect(photo.exposureTime == 0.004 && photo.fNumber == 2.8 && photo.isoSpeed == 400 && photo.focalLength == 50)
        #expect(photo.date?.description == "2024-05-17T09:30:01+02:00")
        let place = try #require(photo.place)
        #expect(abs(place.latitude + 33.875) < 1e-9 && abs(place.longitude + 151.2) < 1e-9 && place.altitude == -2.5)
        #expect(photo.caption == nil && photo.software == nil)
    }

    @Test(arguments: [
        ("2024:05:17 09:30:01", "2024-05-17T09:30:01"), ("0005:01:02 03:04:05", "0005-01-02T03:04:05"),
        ("2024:13:17 09:30:01", nil), ("0000:00:00 00:00:00", nil), ("    :  :     :  :  ", nil), ("2024", nil),
        ("2024-05-17T09:30:01", "2024-05-17T09:30:01"), ("2024:05:17 24:00:00", nil), ("-1:05:17 09:30:01:1", nil),
    ])
    func onlyValidDatesAreRead(text: String, shown: String?) {
        var camera = Camera()
        camera.add(camera.text(306, text))
        camera.add(camera.text(305, "a program"))
        #expect(ImageMetadata(exif: camera.block).photo?.date?.description == shown)
    }

    @Test func anImpossiblePlaceIsNil() {
        var camera = Camera()
        camera.position = [
            camera.text(1, "N"), camera.rationals(2, [(91, 1)]), camera.text(3, "E"), camera.rationals(4, [(1, 1)]),
        ]
        camera.add(camera.text(305, "a program"))
        #expect(ImageMetadata(exif: camera.block).photo?.place == nil)
        camera.position[1] = camera.rationals(2, [(1, 0)])
        #expect(ImageMetadata(exif: camera.block).photo?.place == nil)
    }

    @Test func metadataWithoutPhotoDetailsGivesNil() {
        #expect(ImageMetadata().photo == nil)
        #expect(ImageMetadata(exif: Array("no block".utf8)).photo == nil)
        #expect(ImageMetadata(exif: EXIFOrientation.block(.right)).photo == nil)
        var camera = Camera()
        camera.add(camera.text(271, "   "))
        #expect(ImageMetadata(exif: camera.block).photo == nil)
    }

    /// Blocks that are cut off anywhere or have flipped bits are read without a trap.
    @Test func damagedBlocksAreReadWithoutATrap() {
        var random = SeededGenerator(seed: 11)
        let block = camera(isBigEndian: false).block
        for length in 0..<block.count { _ = ImageMetadata(exif: Array(block.prefix(length))).photo }
        for _ in 0..<20_000 {
            var damaged = block
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = ImageMetadata(exif: damaged).photo
        }
    }
}
