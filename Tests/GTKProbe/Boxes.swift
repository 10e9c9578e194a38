#if GTK
    import CShimGTK
    import CSysGTK
    import WebImage
    import WebImageCore
    import WebImageGTK
    import WebImageTesting

    /// The size, the visibility and the frames that a box reports.
    @MainActor enum Boxes {
        static func sizes() async {
            let (stage, box) = (Stage(), ImageBox())
            box.onResize = { print("size \($0.width)x\($0.height) scale \($0.scale) pixels \($0.pixels)") }
            await stage.show(box, width: 30, height: 20)
            box.paintable.show(Image.plain([0, 0, 0, 255]), fit: .fill)
            box.fixedSize = (40, 25)
            await stage.window.nextFrame()
            print("screenshot \(box.widget.screenshot()?.size.description ?? "none")")
            box.paintable.scale = 2
            box.paintable.show(Image.plain([0, 0, 0, 255], width: 60, height: 20))
            box.fixedSize = nil
            await stage.window.nextFrame()
            // Prints the size that GTK measures, such as the height that follows from a width of 60.
            func measure(_ name: String, _ orientation: GtkOrientation, _ size: Int32) {
                var (minimum, natural): (Int32, Int32) = (-1, -1)
                gtk_widget_measure(box.widget.cWidget, orientation, size, &minimum, &natural, nil, nil)
                print("\(name) \(minimum) \(natural)")
            }
            measure("measured", GTK_ORIENTATION_HORIZONTAL, -1)
            measure("measured", GTK_ORIENTATION_VERTICAL, 60)
            box.paintable.contentFit = .none
            measure("measured-none", GTK_ORIENTATION_VERTICAL, 60)
            box.paintable.show(Image.plain([0, 0, 0, 255], width: 60, height: 20), fit: .fill)
            measure("measured-fill", GTK_ORIENTATION_VERTICAL, 60)
            for scale in [.infinity, .nan, -1, 1e300, 1e-300] {
                box.paintable.scale = scale
                measure("measured-scale", GTK_ORIENTATION_VERTICAL, 60)
                print("wide \(gdk_paintable_get_intrinsic_width(OpaquePointer(box.paintable.pointer)) > 0)")
            }
        }

        static func visibility() async {
            let (stage, box) = (Stage(), ImageBox())
            box.onVisibilityChange = { print("visible \($0)") }
            print("tick-unseen \(box.addTick { _ in } != nil)")
            await stage.show(box)
            print("step hide")
            gtk_widget_set_visible(box.widget.cWidget, 0)
            print("step show")
            gtk_widget_set_visible(box.widget.cWidget, 1)
            await stage.window.nextFrame()
            let frames = await FrameRow(box).wait(for: 3)
            print("frames \(frames.count) \(zip(frames, frames.dropFirst()).allSatisfy { $0 < $1 })")
            print("step take")
            stage.take(box.widget)
            print("step close")
            stage.close()
        }

        /// Minimises the window of a box and shows it again. Without a window manager, another program has to set the
        /// window's state.
        static func minimised() async throws {
            let (stage, box, title) = (Stage(), ImageBox(), "webimage-minimised")
            gtk_window_set_title(stage.window.cWindow, title)
            let widget = GTKWidget(gtk_image_new())
            let target = widget.webImage(Views.Origin().manager)
            stage.put(widget)
            await stage.show(box)
            print("visible \(box.isVisible) \(target?.slots.isVisible == true)")
            for isMinimised in [true, false] {
                let state = isMinimised ? "_NET_WM_STATE_HIDDEN" : "_NET_WM_STATE_FOCUSED"
                try PeerProcess.run(
                    [
                        PeerProcess.find("xprop") ?? "", "-name", title, "-f", "_NET_WM_STATE", "32a", "-set",
                        "_NET_WM_STATE", state,
                    ], log: "/dev/null")
                await withCheckedContinuation { continuation in
                    box.onVisibilityChange = { _ in continuation.resume() }
                }
                box.onVisibilityChange = nil
                print("visible \(box.isVisible) \(target?.slots.isVisible == true)")
            }
            stage.close()
        }

        /// A caller that waits for a frame gets false if no frame can come.
        static func frames() async {
            let (stage, box) = (Stage(), ImageBox())
            print("frame-unseen \(await box.widget.nextFrame())")
            print("shot-unseen \(box.widget.screenshot() != nil)")
            await stage.show(box)
            print("frame-seen \(await box.widget.nextFrame())")
            let widget = box.widget
            let waiting = Task.immediate { await widget.nextFrame() }
            stage.close()
            print("frame-closed \(await waiting.value)")
        }

        /// Saves a screenshot to a file.
        static func files() async {
            let (stage, box) = (Stage(), ImageBox())
            let path = "\(String(cString: g_get_tmp_dir()))/gtk-probe-\(UInt64.random(in: 0...UInt64.max)).png"
            print("file-unseen \(box.widget.saveScreenshot(to: path))")
            await stage.show(box, width: 30, height: 20)
            box.paintable.show(Image.plain([0, 0, 0, 255]), fit: .fill)
            await box.widget.nextFrame()
            print("file \(box.widget.saveScreenshot(to: path))")
            let texture = gdk_texture_new_from_filename(path, nil)
            print("file-size \(gdk_texture_get_width(texture))x\(gdk_texture_get_height(texture))")
            g_object_unref(texture.map { UnsafeMutableRawPointer($0) })
            let file = g_file_new_for_path(path)
            g_file_delete(file, nil, nil)
            g_object_unref(file.map { UnsafeMutableRawPointer($0) })
            print("file-nowhere \(box.widget.saveScreenshot(to: path + "/no/folder"))")
        }

        static func label() {
            let box = ImageBox()
            box.label = "a fox"
            let mistake = wi_check_label(box.pointer, "a fox")
            print("label \(mistake == nil)")
            g_free(mistake)
            print("role \(gtk_accessible_get_accessible_role(OpaquePointer(box.pointer)) == GTK_ACCESSIBLE_ROLE_IMG)")
        }
    }

    /// Collects the times of successive frames.
    @MainActor private final class FrameRow {
        private let box: ImageBox
        private var times: [Duration] = []
        private var id: TickID?

        init(_ box: ImageBox) { self.box = box }

        func wait(for count: Int) async -> [Duration] {
            await withCheckedContinuation { continuation in
                id = box.addTick { [self] tick in
                    if case .frame(let time) = tick { times.append(time) }
                    guard times.count == count, let id else { return }
                    box.removeTick(id)
                    continuation.resume()
                }
            }
            return times
        }
    }
#endif
