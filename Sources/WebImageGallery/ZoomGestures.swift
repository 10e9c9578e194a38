#if GTK
    import CShimGTK
    import CSysGTK
    import WebImageGTK

    /// The wheel, drags and double clicks on the large picture.
    @MainActor final class ZoomGestures {
        private let view: ZoomView
        private var pointer = (x: 0.0, y: 0.0)
        private var dragged = (x: 0.0, y: 0.0)

        init(on view: ZoomView) {
            self.view = view
            let widget = view.canvas.widget
            addScroll(to: widget)
            addDrag(to: widget)
            addClicks(to: widget)
        }

        /// Makes the wheel and touchpads zoom around the pointer.
        private func addScroll(to widget: Widget) {
            guard let motion = gtk_event_controller_motion_new(),
                let scroll = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL)
            else { return }
            gtk_widget_add_controller(widget, motion)
            gtk_widget_add_controller(widget, scroll)
            for signal in ["enter", "motion"] {
                SignalConnection.connectScroll(UnsafeMutableRawPointer(motion), signal) { [weak self] x, y in
                    self?.pointer = (x, y)
                    return false
                }
            }
            let wheel = UnsafeMutableRawPointer(scroll)
            SignalConnection.connectScroll(wheel, "scroll") { [weak self] _, y in
                guard let self else { return false }
                let factor = Viewport.factor(ofScrolling: y, isInPixels: wi_scroll_is_in_pixels(wheel) != 0)
                view.zoom(by: factor, about: pointer)
                return true
            }
        }

        private func addDrag(to widget: Widget) {
            guard let drag = gtk_gesture_drag_new() else { return }
            gtk_widget_add_controller(widget, drag)
            SignalConnection.connectScroll(UnsafeMutableRawPointer(drag), "drag-begin") { [weak self] _, _ in
                self?.dragged = (0, 0)
                return false
            }
            SignalConnection.connectScroll(UnsafeMutableRawPointer(drag), "drag-update") { [weak self] x, y in
                guard let self else { return false }
                view.pan(x - dragged.x, y - dragged.y)
                dragged = (x, y)
                return false
            }
        }

        /// Makes a double click show single pixels, and the next one go back.
        private func addClicks(to widget: Widget) {
            guard let click = gtk_gesture_click_new() else { return }
            gtk_widget_add_controller(widget, click)
            SignalConnection.connectPress(UnsafeMutableRawPointer(click), "pressed") { [weak self] count, x, y in
                guard let self, count == 2, let viewport = view.viewport else { return }
                if viewport.isFitted { view.setZoom(1, about: (x, y)) } else { view.fit() }
            }
        }
    }
#endif
