#if GTK
    internal import WebImageCore

    /// How a picture is fitted into its area. Parts outside of the area are cut off.
    public enum ContentFit: String, Hashable, Sendable, CaseIterable {
        /// Stretched to the area.
        case fill
        /// As large as fits inside, with the aspect ratio kept, in the centre.
        case contain
        /// As small as fills the area, with the aspect ratio kept, in the centre.
        case cover
        /// As ``contain``, but no larger than its natural size.
        case scaleDown
        /// In its natural size, in the centre.
        case none
    }

    extension ContentFit {
        /// The fit with which a picture is decoded for an area; nil means its own size.
        var decodedFit: ImageFit? {
            switch self {
            case .fill: .fill
            case .contain, .scaleDown: .contain
            case .cover: .cover
            case .none: nil
            }
        }

        /// An area in logical pixels.
        struct Area: Hashable {
            var x: Double
            var y: Double
            var width: Double
            var height: Double
        }

        /// The area in which a picture of a natural size is drawn within another area.
        func placed(_ natural: (width: Double, height: Double), in area: (width: Double, height: Double)) -> Area {
            guard self != .fill, natural.width > 0, natural.height > 0 else {
                return Area(x: 0, y: 0, width: area.width, height: area.height)
            }
            let (across, down) = (area.width / natural.width, area.height / natural.height)
            let scale =
                switch self {
                case .cover: max(across, down)
                case .scaleDown: min(across, down, 1)
                case .none: 1.0
                case .contain, .fill: min(across, down)
                }
            let (width, height) = (natural.width * scale, natural.height * scale)
            return Area(x: (area.width - width) / 2, y: (area.height - height) / 2, width: width, height: height)
        }
    }
#endif
