#if SVG
    package import WebImageCore

    /// SVG and SVGZ through librsvg: static pictures, drawn at the requested size.
    ///
    /// The natural size is the root element's width and height at 96 dpi; a missing side follows from its viewBox;
    /// without one it is 300x150, as in browsers (CSS 2.1, section 10.3.2). External resources are never loaded: of
    /// links, only `data:` bitmaps are drawn. Scripts and animations are not run. All bytes must have arrived before
    /// anything is known. A drawing that takes longer than ``/WebImageCore/DecodeLimits/drawingTime`` is abandoned: its
    /// caller gets `limitExceeded`, while the drawing itself continues until it ends. The cost of a drawing is
    /// estimated before librsvg sees the document, which is refused with `limitExceeded` if it is too high.
    package struct SVGCoder: ImageCoder {
        package init() {}

        package var decodableFormats: Set<ImageFormat> { [.svg, .svgz] }

        package var decodesInOneCall: Bool { true }

        package func makeDecoder(
            _ options: DecodeOptions, plan: @escaping DecodePlanner
        ) throws(WebImageError) -> any ImageDecoder {
            VectorDecoder(.svg, options, plan: plan) { (bytes, options) throws(WebImageError) in
                try SVGDocument(bytes, options)
            }
        }
    }
#endif
