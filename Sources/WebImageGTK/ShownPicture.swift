#if GTK
    internal import CSysGTK
    internal import WebImageCore

    /// A texture, and how it is fitted.
    @MainActor struct ShownPicture {
        let texture: Texture
        let fit: ContentFit?

        /// In logical pixels.
        func naturalSize(scale: Double) -> (width: Double, height: Double) {
            (Double(texture.displaySize.width) / scale, Double(texture.displaySize.height) / scale)
        }

        /// Draws into a `GtkSnapshot *`, upright and within the area.
        func draw(
            into snapshot: OpaquePointer, area: (width: Double, height: Double), scale: Double,
            fit defaultFit: ContentFit
        ) {
            let place = (fit ?? defaultFit).placed(naturalSize(scale: scale), in: area)
            let isOver = place.width > area.width || place.height > area.height
            if isOver {
                var bounds = Self.rect(width: area.width, height: area.height)
                gtk_snapshot_push_clip(snapshot, &bounds)
            }
            gtk_snapshot_save(snapshot)
            Self.translate(snapshot, place.x, place.y)
            Self.turn(snapshot, texture.orientation, place.width, place.height)
            let isOnItsSide = texture.orientation.swapsSides
            var bounds = Self.rect(
                width: isOnItsSide ? place.height : place.width, height: isOnItsSide ? place.width : place.height)
            gtk_snapshot_append_texture(snapshot, texture.pointer, &bounds)
            gtk_snapshot_restore(snapshot)
            if isOver { gtk_snapshot_pop(snapshot) }
        }

        /// Turns the coordinates of the stored picture, so that it is drawn upright in an area that begins at 0.
        private static func turn(
            _ snapshot: OpaquePointer, _ orientation: Orientation, _ width: Double, _ height: Double
        ) {
            switch orientation {
            case .up: break
            case .upMirrored:
                translate(snapshot, width, 0)
                gtk_snapshot_scale(snapshot, -1, 1)
            case .down:
                translate(snapshot, width, height)
                gtk_snapshot_scale(snapshot, -1, -1)
            case .downMirrored:
                translate(snapshot, 0, height)
                gtk_snapshot_scale(snapshot, 1, -1)
            case .leftMirrored:
                gtk_snapshot_scale(snapshot, -1, 1)
                gtk_snapshot_rotate(snapshot, 90)
            case .right:
                translate(snapshot, width, 0)
                gtk_snapshot_rotate(snapshot, 90)
            case .rightMirrored:
                translate(snapshot, width, height)
                gtk_snapshot_scale(snapshot, 1, -1)
                gtk_snapshot_rotate(snapshot, 90)
            case .left:
                translate(snapshot, 0, height)
                gtk_snapshot_rotate(snapshot, -90)
            }
        }

        private static func translate(_ snapshot: OpaquePointer, _ x: Double, _ y: Double) {
            var point = graphene_point_t(x: Float(x), y: Float(y))
            gtk_snapshot_translate(snapshot, &point)
        }

        private static func rect(width: Double, height: Double) -> graphene_rect_t {
            graphene_rect_t(
                origin: graphene_point_t(x: 0, y: 0),
                size: graphene_size_t(width: Float(width), height: Float(height)))
        }
    }
#endif
