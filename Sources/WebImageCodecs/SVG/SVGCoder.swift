#if SVG
    package import WebImageCore

    /// SVG and SVGZ through librsvg: static pictures, drawn at the size that is asked for.
    ///
    /// The natural size is the root element's width and height at 96 dpi; a side that it does not say follows from its
    /// viewBox; without one it is 300x150, as in browsers (CSS 2.1, section 10.3.2). Nothing outside of the file is
    /// ever loaded: of links, only `data:` bitmaps are drawn. Scripts and animations are not run. All bytes must be
    /// there before anything is known. A drawing that takes longer than ``/WebImageCore/DecodeLimits/drawingTime`` is left: its caller
    /// gets `limitExceeded` then, while the drawing itself goes on until it ends. What a drawing may take is estimated
    /// before librsvg sees the document, and refused with `limitExceeded` where it is too much.
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
