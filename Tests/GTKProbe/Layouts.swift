#if GTK
    import CSysGTK
    import WebImage
    import WebImageCore
    import WebImageGTK

    /// Views and widgets that get their size from their picture.
    @MainActor enum Layouts {
        /// Views in boxes that give them no size. They become as large as their pictures, or as large as their place
        /// allows.
        static func sizeless() async {
            let origin = Views.Origin()
            origin.answer(1, width: 120, height: 80)
            origin.answer(2, width: 600, height: 400)
            for (name, number, orientation, isPacked, change) in [
                ("column", 1, GTK_ORIENTATION_VERTICAL, false, { _ in }),
                ("row", 1, GTK_ORIENTATION_HORIZONTAL, false, { _ in }),
                ("packed", 1, GTK_ORIENTATION_VERTICAL, true, { _ in }),
                ("wide", 2, GTK_ORIENTATION_VERTICAL, true, { _ in }),
                ("explicit", 2, GTK_ORIENTATION_VERTICAL, false, { _ in }),
                (
                    "placeholder", 1, GTK_ORIENTATION_VERTICAL, true, { $0.placeholder = Image.plain([0, 0, 0, 255]) }
                ),
                ("natural", 1, GTK_ORIENTATION_VERTICAL, true, { $0.fitsTarget = nil }),
            ] as [(String, Int, GtkOrientation, Bool, (inout SlotOptions) -> Void)] {
                let box = GTKWidget(gtk_box_new(orientation, 0))
                let window = GTKWidget(gtk_window_new())
                gtk_window_set_decorated(window.cWindow, 0)
                gtk_window_set_default_size(window.cWindow, 300, 300)
                gtk_window_set_child(window.cWindow, box.cWidget)
                let view = WebImageView(manager: origin.manager)
                if isPacked {
                    gtk_widget_set_halign(view.widget.cWidget, GTK_ALIGN_START)
                    gtk_widget_set_valign(view.widget.cWidget, GTK_ALIGN_START)
                }
                gtk_box_append(box.pointer.assumingMemoryBound(to: GtkBox.self), view.widget.cWidget)
                var request = origin.request(number)
                if name == "explicit" { request.size = TargetSize(width: 90) }
                view.load(request, change)
                gtk_window_present(window.cWindow)
                await Views.wait(view) { if case .loaded = $0.phase { true } else { false } }
                for _ in 0..<3 { await window.nextFrame() }
                let size = view.box.size.map { "\($0.width)x\($0.height)" } ?? "none"
                print("\(name) \(view.state.image?.size.description ?? "none") in \(size)")
                gtk_window_destroy(window.cWindow)
            }
        }

        /// Views and GtkPictures without a size of their own that show one picture after the other.
        static func reused() async {
            let origin = Views.Origin()
            origin.answer(1, width: 120, height: 80)
            origin.answer(2, width: 600, height: 840)
            for (name, isPacked) in [("packed", true), ("column", false), ("picture", true)] {
                let box = GTKWidget(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0))
                let window = GTKWidget(gtk_window_new())
                gtk_window_set_decorated(window.cWindow, 0)
                gtk_window_set_default_size(window.cWindow, 300, 600)
                gtk_window_set_child(window.cWindow, box.cWidget)
                let (view, picture) = (WebImageView(manager: origin.manager), GTKWidget(gtk_picture_new()))
                let widget = name == "picture" ? picture : view.widget
                for align in [gtk_widget_set_halign, gtk_widget_set_valign] where isPacked {
                    align(widget.cWidget, GTK_ALIGN_START)
                }
                gtk_box_append(box.pointer.assumingMemoryBound(to: GtkBox.self), widget.cWidget)
                gtk_window_present(window.cWindow)
                let options = WebImageView.standardOptions()
                let target = name == "picture" ? picture.webImage(origin.manager, options: options) : view.target
                var sizes: [String] = []
                for number in [1, 2, 1, 2] {
                    let image = try? await target?.slots[.image].show(origin.request(number)).image
                    for _ in 0..<3 { await window.nextFrame() }
                    sizes.append(image?.size.description ?? "none")
                }
                print("\(name) \(sizes.joined(separator: " "))")
                print("\(name)-now \(gtk_widget_get_width(widget.cWidget))x\(gtk_widget_get_height(widget.cWidget))")
                gtk_window_destroy(window.cWindow)
            }
        }

        /// GtkPictures whose image is decoded to their size. One is loaded before it is on the screen, and one
        /// afterwards.
        static func widgetSizes() async {
            let (origin, stage) = (Views.Origin(), Stage())
            origin.answer(2, width: 600, height: 400)
            var options = SlotOptions()
            options.fitsTarget = .contain
            func load(_ target: PaintableTarget) async -> String {
                let image = try? await target.slots[.image].show(origin.request(2)).image
                return image?.size.description ?? "none"
            }
            for isShownFirst in [false, true] {
                let widget = GTKWidget(gtk_picture_new())
                gtk_widget_set_size_request(widget.cWidget, 60, 60)
                if isShownFirst {
                    stage.put(widget)
                    await stage.show()
                }
                guard let target = widget.webImage(origin.manager, options: options) else { return }
                let loading = Task.immediate { await load(target) }
                if !isShownFirst {
                    stage.put(widget)
                    await stage.show()
                }
                print("shown-first \(isShownFirst) \(await loading.value)")
                gtk_widget_set_visible(widget.cWidget, 0)
                gtk_widget_set_visible(widget.cWidget, 1)
                gtk_widget_set_size_request(widget.cWidget, 150, 100)
                await withCheckedContinuation { continuation in
                    target.onStateChange = { [unowned target] state in
                        guard state.image?.size.width == 150 else { return }
                        target.onStateChange = nil
                        continuation.resume()
                    }
                }
                print("grown \(target.state.image?.size.description ?? "none")")
                stage.take(widget)
            }
        }

        /// Views that grow while their animation is paused, plays or has ended.
        static func growing() async {
            let (origin, stage) = (Views.Origin(), Stage())
            origin.animate(9, frames: 4, loops: 0)
            origin.animate(10, frames: 2, loops: 1)
            for (name, number) in [("paused", 9), ("playing", 9), ("ended", 10)] {
                let view = WebImageView(manager: origin.manager)
                view.box.fixedSize = (20, 20)
                stage.put(view.widget)
                await stage.show()
                view.load(origin.request(number))
                await Views.wait(view) { if case .loaded = $0.phase { true } else { false } }
                guard let player = view.target.player else { return print("player none") }
                switch name {
                case "paused":
                    player.pause()
                    player.seek(to: 2)
                case "playing": player.rate = 0.25
                default:
                    if player.isPlaying {
                        await withCheckedContinuation { continuation in player.onEnd = { continuation.resume() } }
                    }
                }
                let index = player.currentIndex
                view.box.fixedSize = (60, 60)
                await Views.wait(view) { $0.image?.size.width == 60 }
                while player.currentFrame.size.width != 60 { await stage.window.nextFrame() }
                let isSame = view.target.player === player && (name == "playing" || player.currentIndex == index)
                print("\(name) \(isSame) plays \(player.isPlaying) loop \(player.currentLoop) rate \(player.rate)")
                stage.take(view.widget)
            }
        }
    }
#endif
