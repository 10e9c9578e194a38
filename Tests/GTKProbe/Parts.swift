#if GTK
    import CShimGTK
    import CSysGTK
    import WebImage
    import WebImageCore
    import WebImageGTK
    import WebImageTesting

    /// The parts that a view shows besides its picture, and the closures that it leaves to the program.
    @MainActor enum Parts {
        private static func shownParts(of view: WebImageView) -> Int {
            var (child, count) = (gtk_widget_get_first_child(view.widget.cWidget), 0)
            while let widget = child {
                if gtk_widget_get_visible(widget) != 0 { count += 1 }
                child = gtk_widget_get_next_sibling(widget)
            }
            // The box is one of the children, but not a part.
            return count - 1
        }

        private static func place(_ view: WebImageView, _ side: Int, on stage: Stage) async {
            view.box.fixedSize = (side, side)
            await stage.show()
            // Parts come and go in the turn after a layout.
            for _ in 0..<2 { await stage.window.nextFrame() }
        }

        /// Views that are too small for a spinner, a bar and a button.
        static func room() async {
            let (origin, stage, gate) = (Views.Origin(), Stage(), Gate())
            origin.answer(3, gate: gate)
            origin.transport.answer(Views.Origin.url(5), .status(404))
            let view = WebImageView(manager: origin.manager)
            stage.put(view.widget)
            await place(view, 16, on: stage)
            view.load(origin.request(3))
            await Views.wait(view) { $0.isLoading }
            print("loading-small \(shownParts(of: view))")
            await place(view, 60, on: stage)
            print("loading-large \(shownParts(of: view))")
            await place(view, 16, on: stage)
            print("loading-small \(shownParts(of: view))")
            view.load(origin.request(5))
            await Views.wait(view) { $0.error != nil }
            print("failed-small \(stage.button(in: view.widget) != nil)")
            await place(view, 60, on: stage)
            print("failed-large \(stage.button(in: view.widget) != nil)")
            view.load("no url")
            await Views.wait(view) { $0.error?.code == .invalidURL }
            print("failed-for-ever \(stage.button(in: view.widget) != nil)")
            gate.open()
        }

        /// A view without a size of its own. The button of a failed load gives it one until there is a picture.
        static func sizelessFailure() async {
            let (origin, stage) = (Views.Origin(), Stage())
            origin.transport.answer(Views.Origin.url(5), .status(404))
            let view = WebImageView(manager: origin.manager)
            for align in [gtk_widget_set_halign, gtk_widget_set_valign] { align(view.widget.cWidget, GTK_ALIGN_START) }
            let column = GTKWidget(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0))
            gtk_box_append(column.pointer.assumingMemoryBound(to: GtkBox.self), view.widget.cWidget)
            gtk_window_set_child(stage.window.cWindow, column.cWidget)
            await stage.show()
            for _ in 0..<2 { await stage.window.nextFrame() }
            print("empty \(view.box.size == nil)")
            view.load(origin.request(5))
            await Views.wait(view) { $0.error != nil }
            for _ in 0..<3 { await stage.window.nextFrame() }
            guard let button = stage.button(in: view.widget) else { return print("button none") }
            print("button \(gtk_widget_get_width(button) > 0 && gtk_widget_get_height(button) > 0)")
            origin.answer(5, width: 120, height: 80)
            gtk_widget_activate(button)
            await Views.wait(view) { if case .loaded = $0.phase { true } else { false } }
            for _ in 0..<3 { await stage.window.nextFrame() }
            let size = view.box.size.map { "\($0.width)x\($0.height)" } ?? "none"
            print("picture \(view.state.image?.size.description ?? "none") in \(size)")
            print("button \(stage.button(in: view.widget) != nil)")
        }

        /// The button's label for screen readers.
        static func buttonLabel() async {
            let (origin, stage) = (Views.Origin(), Stage())
            origin.transport.answer(Views.Origin.url(5), .status(404))
            let view = WebImageView(manager: origin.manager)
            stage.put(view.widget)
            await place(view, 60, on: stage)
            view.load(origin.request(5))
            await Views.wait(view) { $0.error != nil }
            guard let button = stage.button(in: view.widget) else { return print("button none") }
            let mistake = wi_check_label(button, "Try again")
            print("label \(mistake == nil)")
            g_free(mistake)
        }

        /// A program that sets all public closures of a view and its parts.
        static func hooks() async {
            let (origin, stage) = (Views.Origin(), Stage())
            origin.answer(3)
            origin.transport.answer(Views.Origin.url(5), .status(404))
            let view = WebImageView(manager: origin.manager)
            var calls: Set<String> = []
            view.box.onResize = { _ in calls.insert("size") }
            view.box.onVisibilityChange = { _ in calls.insert("visibility") }
            view.target.onStateChange = { _ in calls.insert("state") }
            stage.put(view.widget)
            await place(view, 60, on: stage)
            view.load(origin.request(3))
            await Views.wait(view) { if case .loaded = $0.phase { true } else { false } }
            view.load(origin.request(5))
            await Views.wait(view) { $0.error != nil }
            print("hooks \(calls.sorted()) button \(stage.button(in: view.widget) != nil)")
            // A closure that is set on a cell does not keep the list from knowing which cells are visible.
            let cells = ImageCells(manager: origin.manager, width: 60, height: 60, count: { 3 }) { _ in nil }
            cells.onSetup = { $0.onVisibilityChange = { _ in calls.insert("cell") } }
            let grid = Grid(cells, items: 3)
            await grid.show()
            print("visible \(cells.visible.count) \(calls.contains("cell"))")
            grid.close()
        }

        /// The blurred picture of a BlurHash, in a view that is much wider than high.
        static func blur() async {
            let (origin, stage, gate) = (Views.Origin(), Stage(), Gate())
            origin.answer(3, gate: gate)
            let view = WebImageView(manager: origin.manager)
            view.indicator = .none
            view.box.fixedSize = (120, 20)
            stage.put(view.widget)
            view.load(origin.request(3), blurHash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj")
            // The second call is that of a list that binds the cell again.
            view.load(origin.request(3), blurHash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj")
            await stage.show()
            await Views.wait(view) { $0.isLoading }
            await stage.window.nextFrame()
            let shot = view.widget.screenshot()
            print("blur \([(2, 10), (60, 10), (117, 10)].map { shot?.hex($0.0, $0.1).suffix(2) ?? "none" })")
            // With an invalid hash, the view keeps its own placeholder.
            view.target.slots.options.placeholder = Image.plain([0, 0, 255, 255], width: 7, height: 5)
            view.load(origin.request(5), blurHash: "none")
            print("own \(view.box.paintable.texture?.displaySize.description ?? "none")")
            gate.open()
        }

        /// A user who wants no animations.
        static func noAnimations() async {
            let (stage, box) = (Stage(), ImageBox())
            await stage.show(box)
            box.paintable.show(Image.plain([0, 0, 255, 255]), fading: .seconds(1000)) { print("first completed") }
            await stage.window.nextFrame()
            print("fading \(box.paintable.isFading)")
            var value = GValue()
            g_value_init(&value, g_type_from_name("gboolean"))
            g_value_set_boolean(&value, 0)
            let settings = gtk_settings_get_default().map { UnsafeMutableRawPointer($0) }
            g_object_set_property(
                settings?.assumingMemoryBound(to: GObject.self), "gtk-enable-animations", &value)
            await stage.window.nextFrame()
            print("fading \(box.paintable.isFading)")
            box.paintable.show(Image.plain([255, 0, 0, 255]), fading: .seconds(1000)) { print("second completed") }
            print("fading \(box.paintable.isFading)")
        }
    }
#endif
