#if GTK
    internal import CShimGTK
    internal import CSysGTK
    public import WebImage
    internal import WebImageCore
    internal import WebImageProcessing

    /// A widget that loads a picture and shows it: with a placeholder, a spinner or a progress bar, a fade, and, for a load that
    /// failed, a button for trying again. Animated pictures play.
    ///
    ///     let view = WebImageView(manager: manager)
    ///     view.alternativeText = "a fox in the snow"
    ///     view.load("https://example.com/fox.jpg")
    ///     gtk_window_set_child(window, view.widget.pointer.assumingMemoryBound(to: GtkWidget.self))
    ///
    /// A picture is decoded to the widget's size in pixels of the screen, and loaded only while the widget is to be seen; what memory
    /// has is shown at once. In a list that is what one wants: bind a cell by calling ``load(_:_:completion:)``, and let it go by
    /// calling ``recycle()``.
    ///
    /// The view lives as long as Swift holds it or its widget has a place among GTK's.
    @MainActor public final class WebImageView {
        /// What tells of a load for which the user has to wait.
        public enum Indicator: String, Hashable, Sendable, CaseIterable { case none, spinner, progressBar }

        /// What draws the picture.
        public let box: ImageBox
        /// Shows what is loaded on ``box``.
        public let target: PaintableTarget
        /// Default ``Indicator/spinner``.
        public var indicator = Indicator.spinner { didSet { if indicator != oldValue { showState(target.state) } } }
        /// Whether a load that failed can be tried again by a click. Default true.
        public var retriesOnClick = true { didSet { if retriesOnClick != oldValue { showState(target.state) } } }
        /// The text that a screen reader says in the place of the picture. Default nil.
        public var alternativeText: String? {
            get { box.label }
            set { box.label = newValue }
        }
        /// Called with each state of the load.
        public var onStateChange: (@MainActor (SlotState) -> Void)?
        /// Called when the view comes to be among what is drawn, and when it is no longer.
        public var onVisibilityChange: (@MainActor (Bool) -> Void)?

        private let overlay: UnsafeMutableRawPointer
        private let spinner = GTKWidget(made: gtk_spinner_new())
        private let bar = GTKWidget(made: gtk_progress_bar_new())
        private let retry = GTKWidget(made: gtk_button_new_from_icon_name("view-refresh-symbolic"))
        /// Counts what was asked for, so that what comes a turn of the loop later knows whether it still counts.
        private var turn = 0

        /// - Parameters:
        ///   - manager: loads.
        ///   - fit: where the picture is drawn, and how it is made to fit the widget.
        ///   - options: how loads are shown whose calls say nothing else; nil: ``standardOptions(_:)``.
        public init(manager: ImageManager, fit: ContentFit = .contain, options: SlotOptions? = nil) {
            box = ImageBox()
            box.paintable.contentFit = fit
            target = PaintableTarget(
                box.paintable, manager: manager, options: options ?? Self.standardOptions(fit))
            target.slots.isVisible = false
            overlay = GTKWidget.made(gtk_overlay_new())
            ObjectTie.tie(overlay, to: Unmanaged.passUnretained(self).toOpaque())
            gtk_overlay_set_child(OpaquePointer(overlay), box.widget.cWidget)
            build()
            box.onResize = { [weak self] in self?.resized(to: $0) }
            box.onVisibilityChange = { [weak self] in self?.visibilityChanged(to: $0) }
            target.onStateChange = { [weak self] state in
                self?.showState(state)
                self?.onStateChange?(state)
            }
            retry.onSignal("clicked") { [weak self] in self?.target.slots[.image].reload() }
            showState(target.state)
        }

        isolated deinit { wi_untie(overlay) }

        /// Decodes to the widget's size, fades in what had to be waited for, rests while the widget is not seen, and takes a
        /// second call for the same picture for the first.
        public static func standardOptions(_ fit: ContentFit = .contain) -> SlotOptions {
            var options = SlotOptions()
            options.fitsTarget = fit == .cover ? .cover : .contain
            options.transition = .fade(.milliseconds(200))
            options.whenHidden = .paused
            options.keepsEqualLoad = true
            return options
        }

        /// The view as a widget.
        public var widget: GTKWidget { GTKWidget(overlay) }
        /// What it loads and shows.
        public var state: SlotState { target.state }

        /// Loads a picture and shows it.
        ///
        /// - Parameters:
        ///   - request: what is loaded; nil shows the placeholder.
        ///   - change: sets what differs from the options of the view's slots. Called once, now.
        ///   - completion: called once, with the picture or with what went wrong.
        public func load(
            _ request: ImageRequest?, _ change: (inout SlotOptions) -> Void = { _ in },
            completion: ImageSlot.Completion? = nil
        ) {
            turn += 1
            target.load(request, change, completion: completion)
        }

        /// Loads a picture and shows, until it is there, the blurred one that a BlurHash tells.
        ///
        /// - Parameters:
        ///   - request: what is loaded.
        ///   - blurHash: as `webimage info --placeholder` prints it. One that is none counts as nil.
        public func load(_ request: ImageRequest?, blurHash: String) {
            load(request) { $0.placeholder = try? BlurHash(blurHash).image(width: 32, height: 32) }
        }

        /// Lets go of what the view shows, soon: for cells that a list has unbound. A call of ``load(_:_:completion:)`` before the
        /// main loop's next turn keeps the picture if it is for the same: lists unbind and bind cells whenever they change.
        public func recycle() {
            turn += 1
            let turn = turn
            Task { @MainActor [weak self] in
                guard let self, self.turn == turn else { return }
                target.slots.clear()
            }
        }

        // MARK: - Parts

        private func build() {
            for widget in [spinner, bar, retry] {
                gtk_overlay_add_overlay(OpaquePointer(overlay), widget.cWidget)
                gtk_widget_set_halign(widget.cWidget, GTK_ALIGN_CENTER)
                gtk_widget_set_valign(widget.cWidget, GTK_ALIGN_CENTER)
            }
            gtk_widget_set_halign(bar.cWidget, GTK_ALIGN_FILL)
            gtk_widget_set_valign(bar.cWidget, GTK_ALIGN_END)
            gtk_widget_set_size_request(spinner.cWidget, 24, 24)
            gtk_widget_set_tooltip_text(retry.cWidget, "Try again")
        }

        private func showState(_ state: SlotState) {
            let waits = state.isLoading && state.image == nil
            show(spinner, waits && indicator == .spinner)
            gtk_spinner_set_spinning(OpaquePointer(spinner.pointer), waits && indicator == .spinner ? 1 : 0)
            show(bar, state.isLoading && indicator == .progressBar)
            if let fraction = state.fraction {
                gtk_progress_bar_set_fraction(OpaquePointer(bar.pointer), fraction)
            } else if state.isLoading {
                gtk_progress_bar_pulse(OpaquePointer(bar.pointer))
            }
            show(retry, state.error != nil && state.request != nil && retriesOnClick)
        }

        private func show(_ widget: GTKWidget, _ isShown: Bool) {
            let isShownNow = gtk_widget_get_visible(widget.cWidget) != 0
            if isShown != isShownNow { gtk_widget_set_visible(widget.cWidget, isShown ? 1 : 0) }
        }

        // MARK: - Size and visibility

        private func resized(to size: BoxSize) {
            box.paintable.scale = Double(size.scale)
            // Nothing but what memory has is shown of a view that is not seen yet: that must not wait.
            guard target.slots.isVisible else {
                target.slots.resize(to: size.pixels)
                target.slots.lookInMemory()
                return beginSoon()
            }
            // GTK lays widgets out now; a spinner that comes or goes would have it begin anew.
            Task { @MainActor [weak self] in self?.target.slots.resize(to: size.pixels) }
        }

        private func visibilityChanged(to isVisible: Bool) {
            defer { onVisibilityChange?(isVisible) }
            guard isVisible else { return target.setVisible(false) }
            // What has come into memory since the view was bound is to be seen in its very first frame.
            target.slots.lookInMemory()
            beginSoon()
        }

        /// Has loads begin for a view that is seen and has a size.
        private func beginSoon() {
            guard box.isVisible, box.size != nil else { return }
            // A list maps all its cells at first, and unmaps those that are not in view in the same turn.
            Task { @MainActor [weak self] in
                guard let self, box.isVisible else { return }
                target.setVisible(true)
            }
        }
    }
#endif
