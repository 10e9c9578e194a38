#if GTK
    import CSysGTK
    import WebImage
    import WebImageCore
    import WebImageGTK
    import WebImageTesting

    /// Views that load and show pictures.
    @MainActor enum Views {
        /// An origin in the process. Each number has a picture of one colour.
        @MainActor final class Origin {
            let transport = FakeTransport()
            let manager: ImageManager

            init() {
                var configuration = ImageManager.Configuration()
                configuration.disk = nil
                configuration.failedURLs = FailedURLPolicy()
                manager = ImageManager(configuration: configuration, transport: transport)
            }

            static func url(_ number: Int) -> String { "http://pictures.test/\(number)" }
            static func color(_ number: Int) -> [UInt8] {
                [UInt8(number * 37 % 256), UInt8(number * 101 % 256), UInt8(number % 256), 255]
            }

            func answer(_ number: Int, width: Int = 40, height: Int = 40, gate: Gate? = nil) {
                let picture = Image.make(width: width, height: height, alpha: .opaque) { _, _ in Self.color(number) }
                let answer = FakeAnswer.bytes((try? picture.encoded(as: .png)) ?? [], contentType: "image/png")
                transport.answer(Self.url(number), gate.map { answer.held(by: $0) } ?? answer)
            }

            /// An animation of frames of 80x80.
            func animate(_ number: Int, frames: Int, loops: Int) {
                let file = BlinkingGIF.file(width: 80, height: 80, frames: frames, loops: loops)
                transport.answer(Self.url(number), .bytes(file, contentType: "image/gif"))
            }

            func request(_ number: Int) -> ImageRequest { ImageRequest(Self.url(number)) }
        }

        /// Waits until `isRight` is true for the state of the view.
        static func wait(_ view: WebImageView, for isRight: @escaping @MainActor (SlotState) -> Bool) async {
            if isRight(view.state) { return }
            await withCheckedContinuation { continuation in
                view.onStateChange = { [unowned view] state in
                    guard isRight(state) else { return }
                    view.onStateChange = nil
                    continuation.resume()
                }
            }
        }

        static func loads() async {
            let (origin, stage, gate) = (Origin(), Stage(), Gate())
            origin.answer(3, gate: gate)
            origin.answer(4)
            let view = WebImageView(manager: origin.manager, fit: .fill)
            view.indicator = .none
            view.box.fixedSize = (20, 20)
            stage.put(view.widget)
            var size: PixelSize?
            view.load(origin.request(3)) {
                $0.placeholder = Image.plain([9, 8, 7, 255])
                $0.transition = nil
            } completion: {
                size = try? $0.get().image.size
            }
            await stage.show()
            await wait(view) { $0.isLoading }
            print("placeholder \(await stage.window.drawn()?.hex(2, 2) ?? "none")")
            gate.open()
            await wait(view) { if case .loaded = $0.phase { true } else { false } }
            print("picture \(await stage.window.drawn()?.hex(10, 10) ?? "none") of \(size?.description ?? "none")")
            // The picture is in memory, so it is shown before the call returns.
            view.load(origin.request(4)) { $0.transition = nil }
            await wait(view) { if case .loaded = $0.phase { true } else { false } }
            view.load(origin.request(3))
            print("again \(view.state.image != nil) \(await stage.window.drawn()?.hex(10, 10) ?? "none")")
            view.recycle()
            view.load(origin.request(3))
            await stage.window.nextFrame()
            print("kept \(view.state.image != nil)")
            view.recycle()
            await stage.window.nextFrame()
            await stage.window.nextFrame()
            print("cleared \(view.state.image == nil)")
        }

        /// A load that fails shows a button; a click on it loads again.
        static func retries() async {
            let (origin, stage) = (Origin(), Stage())
            let good = Image.plain([1, 2, 3, 255])
            origin.transport.answer(
                Origin.url(5), .status(404), .bytes((try? good.encoded(as: .png)) ?? [], contentType: "image/png"))
            let view = WebImageView(manager: origin.manager)
            view.box.fixedSize = (60, 60)
            stage.put(view.widget)
            await stage.show()
            view.load(origin.request(5))
            await wait(view) { $0.error != nil }
            let button = stage.button(in: view.widget)
            print("button \(button != nil)")
            if let button { gtk_widget_activate(button) }
            await wait(view) { if case .loaded = $0.phase { true } else { false } }
            print("button \(stage.button(in: view.widget) != nil)")
        }

        /// A view that is freed cancels its load.
        static func ends() async {
            let (origin, stage, gate) = (Origin(), Stage(), Gate())
            origin.answer(3, gate: gate)
            var code: String?
            weak var gone: WebImageView?
            do {
                let view = WebImageView(manager: origin.manager)
                gone = view
                view.box.fixedSize = (20, 20)
                stage.put(view.widget)
                await stage.show()
                view.load(origin.request(3)) {
                    $0.transition = nil
                } completion: {
                    if case .failure(let error) = $0 { code = error.code.name }
                }
                await wait(view) { $0.isLoading }
                stage.take(view.widget)
            }
            await stage.window.nextFrame()
            print("gone \(gone == nil) \(code ?? "none")")
            gate.open()
        }

        /// Plays two animations, by the clock of GLib's loop.
        static func plays() async {
            let (origin, stage) = (Origin(), Stage())
            let file = BlinkingGIF.file(width: 20, height: 20, frames: 4)
            origin.transport.answer(Origin.url(9), .bytes(file, contentType: "image/gif"))
            let view = WebImageView(manager: origin.manager)
            view.box.fixedSize = (20, 20)
            stage.put(view.widget)
            await stage.show()
            view.load(origin.request(9))
            await wait(view) { if case .loaded = $0.phase { true } else { false } }
            guard let player = view.target.player else { return print("player none") }
            var shown: [Int] = []
            let paints = player.onFrame
            await withCheckedContinuation { continuation in
                player.onFrame = { frame, index in
                    paints?(frame, index)
                    shown.append(index)
                    if shown.count == 6 { continuation.resume() }
                }
            }
            player.onFrame = paints
            print("frames \(shown)")
            gtk_widget_set_visible(view.widget.cWidget, 0)
            print("hidden \(player.isVisible)")
        }

        /// Keeps the player of an animation that another picture has replaced, and plays it.
        static func keptPlayer() async {
            let (origin, stage) = (Origin(), Stage())
            origin.animate(9, frames: 4, loops: 0)
            origin.answer(3)
            let view = WebImageView(manager: origin.manager)
            view.box.fixedSize = (20, 20)
            stage.put(view.widget)
            await stage.show()
            view.load(origin.request(9)) { $0.transition = nil }
            await wait(view) { if case .loaded = $0.phase { true } else { false } }
            guard let player = view.target.player else { return print("player none") }
            for index in 0..<4 { _ = try? await player.animation.frame(at: index) }
            view.load(origin.request(3)) { $0.transition = nil }
            await wait(view) { if case .loaded = $0.phase { true } else { false } }
            print("plays \(player.isPlaying)")
            player.play()
            player.seek(to: 2)
            print("sought \(player.currentIndex)")
            print("drawn \(await stage.window.drawn()?.hex(10, 10) ?? "none")")
        }

        /// An animation from memory, in a view that is in no window.
        static func unseen() async {
            let (origin, stage) = (Origin(), Stage())
            origin.animate(9, frames: 4, loops: 0)
            let seen = WebImageView(manager: origin.manager, fit: .none)
            stage.put(seen.widget)
            await stage.show()
            seen.load(origin.request(9))
            await wait(seen) { if case .loaded = $0.phase { true } else { false } }
            let unseen = WebImageView(manager: origin.manager, fit: .none)
            unseen.load(origin.request(9))
            print("unseen \(unseen.target.player?.isVisible.description ?? "none")")
            stage.put(unseen.widget)
            while unseen.target.player?.isVisible == false { await stage.window.nextFrame() }
            print("seen \(unseen.target.player?.isVisible.description ?? "none")")
        }

        /// The three standard GTK widgets that can show pictures.
        static func widgets() async {
            let (origin, stage) = (Origin(), Stage())
            origin.answer(3)
            for (name, made) in [
                ("picture", gtk_picture_new()), ("image", gtk_image_new()), ("button", gtk_button_new()),
                ("label", gtk_label_new("")),
            ] {
                let widget = GTKWidget(made)
                guard let target = widget.webImage(origin.manager) else {
                    print("\(name) none")
                    continue
                }
                gtk_widget_set_size_request(widget.cWidget, 40, 40)
                stage.put(widget)
                await stage.show()
                _ = try? await target.slots[.image].show(origin.request(3))
                let shot = await stage.window.drawn()
                let isSame = widget.webImage(origin.manager) === target
                print("\(name) \(shot?.hex(20, 20) ?? "none") \(isSame) scale \(target.paintable.scale)")
                stage.take(widget)
            }
        }

        /// A grid of five hundred cells, scrolled about.
        static func cells() async {
            let origin = Origin()
            for number in 0..<500 { origin.answer(number) }
            let cells = ImageCells(
                manager: origin.manager, width: 60, height: 60, prefetcher: ImagePrefetcher(manager: origin.manager),
                count: { 500 }, request: { origin.request($0) })
            let grid = Grid(cells, items: 500)
            await grid.show()
            var wrong = 0
            var seen = 0
            for position in [0, 40, 80, 3, 499, 250, 251, 252, 0] {
                await grid.scroll(to: position)
                for (number, view) in cells.visible {
                    await wait(view) { if case .loaded = $0.phase { true } else { false } }
                    guard let image = view.state.image else { continue }
                    seen += 1
                    let expected = Image.plain(Origin.color(number)).hex(0, 0)
                    if image.hex(0, 0) != expected { wrong += 1 }
                }
            }
            print("cells \(cells.cellCount < 400) seen \(seen > 100) wrong \(wrong)")
            // Pictures that were loaded before are shown at once.
            await grid.scroll(to: 0)
            print("warm \(cells.visible.values.allSatisfy { $0.state.image != nil }) \(cells.visible.count > 10)")
            grid.close()
        }
    }
#endif
