#if GTK
    import CSysGTK
    import WebImage
    import WebImageGTK

    /// Shows one picture, fitted to the window, in its own size, or larger.
    ///
    /// The picture is first decoded at the window's size. When the user zooms in, the visible part is decoded at the
    /// scale at which it is shown (``SharpPart``), and drawn over the coarser picture once it is loaded.
    @MainActor final class ZoomView {
        let canvas = ZoomCanvas()
        /// Called when the zoom has changed, and when a load has begun or ended.
        var onChange: (@MainActor () -> Void)?
        private(set) var viewport: Viewport?
        /// The response with the picture in the window's size.
        private(set) var whole: ImageResponse?
        /// The error, if there is no picture.
        private(set) var failure: WebImageError?
        /// The part that is drawn over the whole picture.
        private(set) var part: SharpPart?
        /// Whether anything is loading for the visible part.
        var isLoading: Bool { wholeTask != nil || partTask != nil }

        private let manager: ImageManager
        private let target: PaintableTarget
        private let partPaintable = ImagePaintable()
        private var request: ImageRequest?
        private var window = PixelSize(width: 0, height: 0)
        private var wholeTask: Task<Void, Never>?
        private var partTask: Task<Void, Never>?
        private var wantedPart: SharpPart?

        init(manager: ImageManager) {
            self.manager = manager
            target = PaintableTarget(manager: manager)
            target.paintable.contentFit = .fill
            partPaintable.contentFit = .fill
            for paintable in [target.paintable, partPaintable] {
                SignalConnection.connect(paintable.pointer, "invalidate-contents") { [weak self] in
                    self?.canvas.redraw()
                }
            }
            canvas.layers = { [weak self] in self?.layers ?? [] }
            canvas.onResize = { [weak self] in self?.resized(to: $0) }
            canvas.onVisibilityChange = { [weak self] in self?.target.setVisible($0) }
        }

        /// Shows a picture; nil shows none.
        func show(_ request: ImageRequest?) {
            self.request = request
            forget()
            if request != nil { loadWhole() }
            canvas.redraw()
            onChange?()
        }

        private func forget() {
            wholeTask?.cancel()
            partTask?.cancel()
            (wholeTask, partTask, wantedPart, part, whole, failure, viewport) = (nil, nil, nil, nil, nil, nil, nil)
            target.slots.clear()
            partPaintable.show(nil)
        }

        // MARK: - The whole picture

        /// - Parameter size: the size to decode to; nil for the window's.
        private func loadWhole(size: PixelSize? = nil) {
            guard var request, !window.isEmpty else { return }
            request.size = TargetSize(size ?? window)
            request.priority = .high
            wholeTask?.cancel()
            wholeTask = Task { [weak self, manager] in
                let result: Result<ImageResponse, WebImageError>
                do throws(WebImageError) {
                    result = .success(try await manager.image(for: request))
                } catch {
                    result = .failure(error)
                }
                if !Task.isCancelled { self?.take(result) }
            }
        }

        private func take(_ result: Result<ImageResponse, WebImageError>) {
            wholeTask = nil
            switch result {
            case .success(let response):
                whole = response
                // An animation that was loaded in a larger size continues.
                if target.player?.replaceFrames(with: response.image) != true {
                    target.setImage(response.image, in: .image)
                }
                let original = response.header?.displaySize ?? response.image.displaySize
                if viewport?.picture != original { viewport = Viewport(picture: original, window: window) }
            case .failure(let error):
                if whole == nil { failure = error }
                // A failed part is requested again when the user moves the picture or zooms in.
                canvas.redraw()
                onChange?()
                return
            }
            changed()
        }

        // MARK: - Zooming in

        /// Multiplies the zoom.
        ///
        /// - Parameter point: the point that stays in place, in logical pixels; nil for the middle.
        func zoom(by factor: Double, about point: (x: Double, y: Double)? = nil) {
            guard let zoom = viewport?.zoom else { return }
            setZoom(zoom * factor, about: point)
        }

        func setZoom(_ zoom: Double, about point: (x: Double, y: Double)? = nil) {
            let scale = Double(canvas.scale)
            viewport?.setZoom(zoom, about: point.map { ($0.x * scale, $0.y * scale) })
            changed()
        }

        func fit() {
            viewport?.fit()
            changed()
        }

        /// Moves the picture by logical pixels.
        func pan(_ dx: Double, _ dy: Double) {
            viewport?.pan(dx * Double(canvas.scale), dy * Double(canvas.scale))
            changed()
        }

        private func resized(to size: PixelSize) {
            window = size
            viewport?.resize(to: size)
            // GTK is laying out widgets now, and labels must not change during it.
            Task { [weak self] in
                guard let self else { return }
                if let whole, whole.image.displaySize.width < size.width, whole.image.displaySize.height < size.height {
                    loadWhole()
                } else if whole == nil, wholeTask == nil, failure == nil {
                    loadWhole()
                }
                changed()
            }
        }

        private func changed() {
            sharpen()
            canvas.redraw()
            onChange?()
        }

        /// Decodes the visible part if that gives a sharper picture than the decoded ones.
        private func sharpen() {
            guard let viewport, let whole, let request else { return }
            if whole.image.animation != nil || whole.image.info.isVector { return enlarge(viewport, whole) }
            guard let wanted = SharpPart(for: viewport, whole: whole.image.displaySize) else {
                partTask?.cancel()
                (partTask, wantedPart, part) = (nil, nil, nil)
                partPaintable.show(nil)
                return
            }
            if part?.serves(viewport) == true || partTask != nil && wantedPart?.serves(viewport) == true { return }
            partTask?.cancel()
            wantedPart = wanted
            partTask = Task { [weak self, manager] in
                let response = try? await manager.image(for: wanted.request(request))
                if !Task.isCancelled { self?.take(response?.image, as: wanted) }
            }
        }

        private func take(_ image: Image?, as part: SharpPart) {
            partTask = nil
            if let image {
                self.part = part
                partPaintable.show(image)
            }
            canvas.redraw()
            onChange?()
        }

        /// Decodes a picture that cannot be decoded in parts in a larger size.
        private func enlarge(_ viewport: Viewport, _ whole: ImageResponse) {
            let size = viewport.enlargedSize(of: whole.image.displaySize, isVector: whole.image.info.isVector)
            if wholeTask == nil, let size { loadWhole(size: size) }
        }

        private var layers: [ZoomCanvas.Layer] {
            guard let viewport else { return [] }
            var layers = [ZoomCanvas.Layer(paintable: target.paintable.pointer, place: viewport.placed)]
            if let part {
                layers.append(
                    ZoomCanvas.Layer(paintable: partPaintable.pointer, place: viewport.placed(part.region)))
            }
            return layers
        }
    }
#endif
