#if GTK
    internal import CShimGTK
    internal import CSysGTK
    public import WebImage
    internal import WebImageCore
    internal import WebImageProcessing

    /// A widget that loads a picture and shows it, with a placeholder, a spinner or a progress bar, a fade, and a retry
    /// button after a failure. Animated pictures play.
    ///
    ///     let view = WebImageView(manager: manager)
    ///     view.alternativeText = "a fox in the snow"
    ///     view.load("https://example.com/fox.jpg")
    ///     gtk_window_set_child(window, view.widget.pointer.assumingMemoryBound(to: GtkWidget.self))
    ///
    /// A picture is decoded to the widget's size in pixels of the screen, and loaded only while the widget is visible;
    /// a picture in memory is shown at once. For the cells of a list, call ``load(_:_:completion:)`` to bind a cell,
    /// and ``recycle()`` to unbind it.
    ///
    /// The view lives as long as Swift retains it or its widget is part of GTK's widget tree.
    @MainActor public final class WebImageView {
        /// The indicator of a load for which the user has to wait. A spinner takes the place of a progress bar that
        /// does not fit into the view; in a view that is smaller than the spinner there is none.
        public enum Indicator: String, Hashable, Sendable, CaseIterable { case none, spinner, progressBar }

        /// The box that draws the picture.
        public let box: ImageBox
        /// The target that shows loaded pictures on ``box``.
        public let target: PaintableTarget
        /// The indicator. Default ``Indicator/spinner``.
        public var indicator = Indicator.spinner { didSet { if indicator != oldValue { showState(target.state) } } }
        /// Whether a click retries a failed load. The view shows a button for it if it is large enough, or has no size
        /// without a picture, and if the load may succeed the next time. Default true.
        public var retriesOnClick = true { didSet { if retriesOnClick != oldValue { showState(target.state) } } }
        /// The text that a screen reader reads for the picture. Default nil.
        public var alternativeText: String? {
            get { box.label }
            set { box.label = newValue }
        }
        /// Called with each state of the load.
        public var onStateChange: (@MainActor (SlotState) -> Void)?
        /// Called with true when the view begins to be drawn, and with false when it is no longer drawn.
        public var onVisibilityChange: (@MainActor (Bool) -> Void)?

        /// The object that is notified of changes before the closures above are called.
        weak var owner: (any WebImageViewOwner)?

        private let overlay: UnsafeMutableRawPointer
        private let spinner = GTKWidget(made: gtk_spinner_new())
        private let bar = GTKWidget(made: gtk_progress_bar_new())
        private let retry = GTKWidget(made: gtk_button_new_from_icon_name("view-refresh-symbolic"))
        /// Counts requests to load or release a picture, so that a task in a later turn of the loop can tell whether
        /// its own request is still the latest.
        private var turn = 0
        /// The parts that do not fit into the view at its present size.
        private var partsWithoutRoom: Set<UnsafeMutableRawPointer> = []
        /// Whether the view's only size is that of its retry button. Without the button, nothing would show that its
        /// load has failed.
        private var buttonGivesSize = false {
            didSet {
                guard buttonGivesSize != oldValue else { return }
                gtk_overlay_set_measure_overlay(OpaquePointer(overlay), retry.cWidget, buttonGivesSize ? 1 : 0)
            }
        }
        private var place = PlaceSize()
        /// The size for which pictures are loaded, in device pixels.
        private var loadedSize = PixelSize(width: 0, height: 0)
        /// The last BlurHash and its picture.
        private var blur: (hash: String, image: Image?) = ("", nil)

        /// - Parameters:
        ///   - manager: loads the pictures.
        ///   - fit: how the picture is fitted into the widget.
        ///   - options: the options of loads that do not set their own; nil: ``standardOptions(_:)``.
        public init(manager: ImageManager, fit: ContentFit = .contain, options: SlotOptions? = nil) {
            box = ImageBox()
            box.paintable.contentFit = fit
            target = PaintableTarget(
                box.paintable, manager: manager, options: options ?? Self.standardOptions(fit))
            target.setVisible(false)
            overlay = GTKWidget.made(gtk_overlay_new())
            ObjectTie.tie(overlay, to: Unmanaged.passUnretained(self).toOpaque())
            gtk_overlay_set_child(OpaquePointer(overlay), box.widget.cWidget)
            build()
            box.owner = self
            target.owner = self
            retry.onSignal("clicked") { [weak self] in self?.target.slots[.image].reload() }
            showState(target.state)
        }

        isolated deinit { wi_untie(overlay) }

        /// Returns the standard options: decode to the widget's size (except for ``ContentFit/none``), fade in pictures
        /// that were not in memory, pause while the widget is not visible, and ignore a second call for the same
        /// picture.
        public static func standardOptions(_ fit: ContentFit = .contain) -> SlotOptions {
            var options = SlotOptions()
            options.fitsTarget = fit.decodedFit
            options.transition = .fade(.milliseconds(200))
            options.whenHidden = .paused
            options.keepsEqualLoad = true
            return options
        }

        /// The view as a widget.
        public var widget: GTKWidget { GTKWidget(overlay) }
        /// The state of the view: what it loads and shows.
        public var state: SlotState { target.state }

        /// Loads a picture and shows it.
        ///
        /// - Parameters:
        ///   - request: the request; nil shows the placeholder.
        ///   - change: changes a copy of the options of the view's slots for this load. Called once, before this
        ///     returns.
        ///   - completion: called once, with the picture or with the error.
        public func load(
            _ request: ImageRequest?, _ change: (inout SlotOptions) -> Void = { _ in },
            completion: ImageSlot.Completion? = nil
        ) {
            turn += 1
            target.load(request, change, completion: completion)
        }

        /// Loads a picture, and shows the blurred picture of a BlurHash until it has loaded: over the whole view,
        /// unless ``PaintableTarget/placeholderFit`` is set.
        ///
        /// - Parameters:
        ///   - request: the request; nil shows the placeholder.
        ///   - blurHash: a BlurHash, for example from `webimage info --placeholder`. An invalid one is ignored, and the
        ///     placeholder of the view's slots is shown.
        public func load(_ request: ImageRequest?, blurHash: String) {
            // If a cell is bound to the same item again, it keeps its load and the placeholder of that load.
            if blur.hash != blurHash { blur = (blurHash, try? BlurHash(blurHash).image(width: 32, height: 32)) }
            target.stretchedPlaceholder = blur.image
            load(request) { if let image = blur.image { $0.placeholder = image } }
        }

        /// Releases the view's picture at the main loop's next turn, for cells that a list has unbound. A call of
        /// ``load(_:_:completion:)`` for the same picture before that keeps it, because lists unbind and bind cells
        /// when they change (before GTK 4.12).
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
            gtk_widget_set_overflow(widget.cWidget, GTK_OVERFLOW_HIDDEN)
            for widget in [spinner, bar, retry] {
                gtk_overlay_add_overlay(OpaquePointer(overlay), widget.cWidget)
                gtk_widget_set_halign(widget.cWidget, GTK_ALIGN_CENTER)
                gtk_widget_set_valign(widget.cWidget, GTK_ALIGN_CENTER)
            }
            gtk_widget_set_halign(bar.cWidget, GTK_ALIGN_FILL)
            gtk_widget_set_valign(bar.cWidget, GTK_ALIGN_END)
            gtk_widget_set_size_request(spinner.cWidget, 24, 24)
            gtk_widget_set_tooltip_text(retry.cWidget, "Try again")
            wi_set_label(retry.pointer, "Try again")
        }

        private func showState(_ state: SlotState) {
            let waits = state.isLoading && state.image == nil
            let hasBar = show(bar, state.isLoading && indicator == .progressBar)
            let spins = show(spinner, waits && indicator != .none && !hasBar)
            gtk_spinner_set_spinning(OpaquePointer(spinner.pointer), spins ? 1 : 0)
            if let fraction = state.fraction {
                gtk_progress_bar_set_fraction(OpaquePointer(bar.pointer), fraction)
            } else if state.isLoading {
                gtk_progress_bar_pulse(OpaquePointer(bar.pointer))
            }
            let mayHeal = state.error.map { $0.code != .invalidURL } ?? false
            let offersRetry = mayHeal && state.request != nil && retriesOnClick
            let isEmpty = box.fixedSize == nil && box.paintable.naturalSize == nil
            buttonGivesSize = offersRetry && isEmpty && (buttonGivesSize || box.allocation?.hasNoArea == true)
            show(retry, offersRetry)
        }

        /// - Returns: whether the part is shown, so that it takes room.
        @discardableResult private func show(_ part: GTKWidget, _ isWanted: Bool) -> Bool {
            let isShown = isWanted && (!partsWithoutRoom.contains(part.pointer) || makesItsRoom(part))
            let isShownNow = gtk_widget_get_visible(part.cWidget) != 0
            guard isShown != isShownNow else { return isShown }
            gtk_widget_set_visible(part.cWidget, isShown ? 1 : 0)
            // GTK measures only visible widgets.
            guard isShown, !hasRoom(for: part), !makesItsRoom(part) else { return isShown }
            partsWithoutRoom.insert(part.pointer)
            gtk_widget_set_visible(part.cWidget, 0)
            return false
        }

        private func hasRoom(for part: GTKWidget) -> Bool {
            guard let room = box.allocation else { return false }
            let least = minSize(of: part)
            return least.width <= room.width && least.height <= room.height
        }

        private func minSize(of part: GTKWidget) -> (width: Int, height: Int) {
            func minimum(_ orientation: GtkOrientation) -> Int {
                var minimum: Int32 = 0
                gtk_widget_measure(part.cWidget, orientation, -1, &minimum, nil, nil, nil)
                return Int(minimum)
            }
            return (minimum(GTK_ORIENTATION_HORIZONTAL), minimum(GTK_ORIENTATION_VERTICAL))
        }

        private func makesItsRoom(_ part: GTKWidget) -> Bool { part.pointer == retry.pointer && buttonGivesSize }

        /// Shows the parts that did not fit before, and hides those that do not fit now.
        private func makeRoom() {
            partsWithoutRoom = []
            for part in [spinner, bar, retry] where gtk_widget_get_visible(part.cWidget) != 0 && !hasRoom(for: part) {
                if !makesItsRoom(part) { partsWithoutRoom.insert(part.pointer) }
            }
            showState(target.state)
        }

        /// Begins loads soon, if the view is visible and laid out. Loads that fit their picture to the view wait for a
        /// size.
        private func beginSoon() {
            guard box.isVisible, box.allocation != nil else { return }
            // A list maps all its cells at first, and unmaps those that are not in view in the same turn.
            Task { @MainActor [weak self] in
                guard let self, box.isVisible else { return }
                target.setVisible(true)
            }
        }
    }

    /// The owner of a view. It uses no closures of the view, so that the program can set them.
    @MainActor protocol WebImageViewOwner: AnyObject {
        /// Called during GTK's layout.
        func viewWasLaidOut()
        func viewVisibilityChanged()
    }

    extension WebImageView: PaintableTargetOwner {
        func targetStateChanged(to state: SlotState) {
            showState(state)
            onStateChange?(state)
        }
    }

    extension WebImageView: ImageBoxOwner {
        func boxWasLaidOut(_ allocation: BoxSize) {
            // GTK has measured the box with the previous scale factor.
            let isOther = place.update(
                to: allocation, wanted: wantedSize(allocation), isLoaded: target.state.image != nil)
            if isOther { loadedSize = box.widget.loadedSize(of: place.size) }
            box.paintable.scale = Double(allocation.scale)
            owner?.viewWasLaidOut()
            // A view that is not visible yet shows a picture only if it is in memory, and it must do so without delay.
            let showsNow = !target.slots.isVisible && allocation.width > 0 && allocation.height > 0
            let before = box.paintable.texture?.displaySize
            if showsNow {
                target.slots.resize(toSides: loadedSize)
                target.slots.lookInMemory()
            }
            let needsLayout = box.fixedSize == nil && box.paintable.texture?.displaySize != before
            // GTK is laying out widgets now. A spinner that is shown or hidden would restart the layout, and GTK would
            // not notice that a picture changes the size of the view.
            Task { @MainActor [weak self] in
                guard let self else { return }
                if needsLayout { gtk_widget_queue_resize(box.widget.cWidget) }
                if !showsNow { target.slots.resize(toSides: loadedSize) }
                makeRoom()
            }
            beginSoon()
        }

        /// The size that the view's content requests: its picture or placeholder, or the button of a failed load.
        private func wantedSize(_ allocation: BoxSize) -> (width: Int, height: Int) {
            if buttonGivesSize { return minSize(of: retry) }
            return box.fixedSize == nil ? box.naturalSize(inWidth: allocation.width) : (0, 0)
        }

        func boxVisibilityChanged(to isVisible: Bool) {
            defer {
                owner?.viewVisibilityChanged()
                onVisibilityChange?(isVisible)
            }
            guard isVisible else { return target.setVisible(false) }
            // A picture that was loaded into memory since the view was bound must be visible in the very first frame.
            target.slots.lookInMemory()
            beginSoon()
        }
    }
#endif
