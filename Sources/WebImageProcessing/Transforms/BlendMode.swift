import CPixels

/// How the colours of a source are combined with those below it: the modes of Compositing and Blending Level 1 (W3C),
/// and the twelve Porter-Duff operators. Raw values are their names in CSS and in the text of a transform.
public enum BlendMode: String, Hashable, Sendable, Codable, CaseIterable {
    /// The source over the picture below ("source over").
    case normal
    case multiply, screen, overlay, darken, lighten
    case colorDodge = "color-dodge"
    case colorBurn = "color-burn"
    case softLight = "soft-light"
    case hardLight = "hard-light"
    case difference, exclusion, hue, saturation, color, luminosity
    /// Everything becomes transparent.
    case clear
    /// The source alone ("copy").
    case source
    /// The source, where there is something below.
    case sourceIn = "source-in"
    /// The source, where there is nothing below.
    case sourceOut = "source-out"
    /// The source over the picture below, only where there is something below.
    case sourceAtop = "source-atop"
    case destinationOver = "destination-over"
    case destinationIn = "destination-in"
    case destinationOut = "destination-out"
    case destinationAtop = "destination-atop"
    case xor
    case plusDarker = "plus-darker"
    case plusLighter = "plus-lighter"
}

extension BlendMode {
    var code: wi_blend_mode {
        switch self {
        case .normal: WI_BLEND_NORMAL
        case .multiply: WI_BLEND_MULTIPLY
        case .screen: WI_BLEND_SCREEN
        case .overlay: WI_BLEND_OVERLAY
        case .darken: WI_BLEND_DARKEN
        case .lighten: WI_BLEND_LIGHTEN
        case .colorDodge: WI_BLEND_COLOR_DODGE
        case .colorBurn: WI_BLEND_COLOR_BURN
        case .softLight: WI_BLEND_SOFT_LIGHT
        case .hardLight: WI_BLEND_HARD_LIGHT
        case .difference: WI_BLEND_DIFFERENCE
        case .exclusion: WI_BLEND_EXCLUSION
        case .hue: WI_BLEND_HUE
        case .saturation: WI_BLEND_SATURATION
        case .color: WI_BLEND_COLOR
        case .luminosity: WI_BLEND_LUMINOSITY
        case .clear: WI_BLEND_CLEAR
        case .source: WI_BLEND_SOURCE
        case .sourceIn: WI_BLEND_SOURCE_IN
        case .sourceOut: WI_BLEND_SOURCE_OUT
        case .sourceAtop: WI_BLEND_SOURCE_ATOP
        case .destinationOver: WI_BLEND_DESTINATION_OVER
        case .destinationIn: WI_BLEND_DESTINATION_IN
        case .destinationOut: WI_BLEND_DESTINATION_OUT
        case .destinationAtop: WI_BLEND_DESTINATION_ATOP
        case .xor: WI_BLEND_XOR
        case .plusDarker: WI_BLEND_PLUS_DARKER
        case .plusLighter: WI_BLEND_PLUS_LIGHTER
        }
    }

    /// Whether an opaque picture stays opaque under a source that is opaque or not.
    func keepsOpaque(sourceIsOpaque: Bool) -> Bool {
        switch self {
        case .clear, .sourceOut, .destinationOut, .xor: false
        case .source, .sourceIn, .destinationIn, .destinationAtop: sourceIsOpaque
        default: true
        }
    }
}
