#if GTK
    import WebImageCore
    import WebImageGTK
    import WebImageProcessing

    /// The pixels of pictures in a box.
    @MainActor enum Pictures {
        /// The colours on the screen of four stripes, for each pixel layout and alpha mode.
        static func textures() async {
            let (stage, box) = (Stage(), ImageBox())
            await stage.show(box)
            for layout in [PixelLayout.rgba8, .rgba16] {
                for alpha in [AlphaMode.opaque, .straight, .premultiplied] {
                    box.paintable.show(stripes(layout, alpha))
                    let shot = await box.widget.drawn()
                    let colors = [2, 6, 10, 14].map { shot?.hex($0, 8) ?? "none" }
                    print("texture \(layout) \(alpha) \(colors.joined(separator: " "))")
                }
            }
            await wideColors(box)
        }

        /// A red in Display P3 that equals the pure red of sRGB.
        private static func wideColors(_ box: ImageBox) async {
            let image = Image.plain([234, 51, 35, 255])
            let wide = image.with { $0.colorDescription = ColorDescription(primaries: 12, transfer: 13) }
            box.paintable.show(wide)
            print("wide \(await box.widget.drawn()?.hex(8, 8) ?? "none")")
        }

        /// Stripes in red, green, blue and white. The last two are half transparent unless the picture is opaque.
        private static func stripes(_ layout: PixelLayout, _ alpha: AlphaMode) -> Image {
            let colors: [[UInt8]] =
                switch alpha {
                case .opaque: [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 255]]
                case .straight: [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 128], [255, 255, 255, 128]]
                case .premultiplied: [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 128, 128], [128, 128, 128, 128]]
                }
            if layout == .rgba8 { return .make(width: 16, height: 16, alpha: alpha) { x, _ in colors[x / 4] } }
            let image = try? Image(size: PixelSize(width: 16, height: 16), layout: .rgba16, alpha: alpha) { bytes in
                let channels = bytes.bindMemory(to: UInt16.self)
                for place in 0..<channels.count {
                    channels[place] = UInt16(colors[place / 4 % 16 / 4][place % 4]) * 257
                }
            }
            guard let image else { fatalError("no memory") }
            return image
        }

        /// Whether a picture that is turned while it is drawn looks like one that was turned before.
        static func orientations() async {
            let (stage, box) = (Stage(), ImageBox())
            await stage.show(box, width: 24, height: 24)
            let stored = Image.make(width: 12, height: 8, alpha: .opaque) { x, y in
                [UInt8(x / 4 * 100), UInt8(y / 4 * 200), 50, 255]
            }
            for orientation in Orientation.allCases {
                let turned = stored.with { $0.orientation = orientation }
                box.paintable.show(turned)
                let drawn = await box.widget.drawn()
                let natural = box.paintable.texture?.displaySize ?? stored.size
                box.paintable.show(try? turned.upright())
                let upright = await box.widget.drawn()
                let isSame = drawn != nil && drawn?.bytes == upright?.bytes
                print("orientation \(orientation) \(natural) \(isSame ? "same" : "different")")
            }
        }

        /// The pixels that a picture of 8x4 covers in a box of 16x32.
        static func fits() async {
            let (stage, box) = (Stage(), ImageBox())
            await stage.show(box, width: 16, height: 32)
            let image = Image.plain([255, 255, 255, 255], width: 8, height: 4)
            for fit in ContentFit.allCases {
                box.paintable.contentFit = fit
                box.paintable.show(image)
                print("fit \(fit) \(await covered(box))")
            }
            box.paintable.scale = 2
            print("fit scaled \(await covered(box))")
            box.paintable.show(image, fit: .fill)
            print("fit own \(await covered(box))")
        }

        private static func covered(_ box: ImageBox) async -> String {
            guard let shot = await box.widget.drawn() else { return "nothing" }
            var (columns, rows) = (Set<Int>(), Set<Int>())
            for y in 0..<shot.size.height {
                for x in 0..<shot.size.width where shot.hex(x, y) == "ffffffff" {
                    columns.insert(x)
                    rows.insert(y)
                }
            }
            guard let left = columns.min(), let right = columns.max(), let top = rows.min(), let bottom = rows.max()
            else { return "nothing" }
            return "\(left),\(top) \(right - left + 1)x\(bottom - top + 1)"
        }
    }
#endif
