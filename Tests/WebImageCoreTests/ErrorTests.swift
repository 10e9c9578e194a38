import Testing
import WebImageCore

@Suite struct ErrorTests {
    /// The numbers and names of codes are stable. This table changes only together with CONTRACTS.
    @Test func theTableOfCodesDoesNotChange() {
        let golden = """
            1000 invalidURL, 1001 badImageData, 1002 notModified, 1003 blockedURL, 1004 cacheMiss, \
            2000 requestRefused, 2001 badStatus, 2002 cancelled, 2003 responseRefused, 2004 badContentType, \
            2101 dnsFailed, 2102 connectionRefused, 2103 connectTimeout, 2104 tlsFailed, 2105 firstByteTimeout, \
            2106 idleTimeout, 2107 tooSlow, 2108 deadlineExceeded, 2109 truncatedBody, 2110 connectionLost, \
            2111 bodyTooLarge, 2112 tooManyRedirects, 2113 redirectRefused, 2114 addressRefused, \
            2115 unsupportedScheme, 2116 protocolError, 2117 decompressionLimit, 2118 authenticationFailed, \
            2119 circuitOpen, 2120 shutDown, 2121 queueFull, \
            3000 unknownFormat, 3001 unsupportedFeature, 3002 formatNotBuilt, 3003 corruptData, 3004 truncatedData, \
            3005 limitExceeded, 3006 cannotEncode, 3007 transformFailed, 3008 decoderCrashed, 3009 decoderUnavailable, \
            4000 cacheIO, 4001 noSpace, 4002 readOnly, 4003 corruptEntry, 4004 locked, \
            5000 fileNotFound, 5001 permissionDenied, 5002 notAFile, 5003 cannotWrite, 5004 cannotRead
            """
        let table = WebImageError.Code.all.map { "\($0.code.rawValue) \($0.name)" }.joined(separator: ", ")
        #expect(table == golden)
    }

    @Test func staticNamesMeanTheirNumbers() {
        #expect(WebImageError.Code.cancelled.rawValue == 2002)
        #expect(WebImageError.Code.badImageData.name == "badImageData")
        #expect(WebImageError.Code.cannotWrite.name == "cannotWrite")
        #expect(WebImageError.Code(rawValue: 9999).name == "code9999")
    }

    /// The description was once `Code(rawValue: 2113)`.
    @Test func aCodeIsShownByItsName() {
        #expect("\(WebImageError.Code.redirectRefused)" == "redirectRefused")
        #expect(String(describing: WebImageError.Code(rawValue: 9999)) == "code9999")
    }

    @Test func aCancelledTaskGivesCancelled() {
        #expect(WebImageError.wrapping(CancellationError(), as: .cacheIO, "x").code == .cancelled)
        #expect(WebImageError.wrapping(WebImageError(.noSpace, "full"), as: .cacheIO, "x").code == .noSpace)
    }

    @Test func theDescriptionSaysWhatWhereAndWhy() {
        let cause = WebImageError(.truncatedData, "the data ends early")
        let error = WebImageError(.badImageData, "no picture", cause: cause).at("http://example.com/a.png")
        #expect(error.at("elsewhere").location == "http://example.com/a.png")
        let text = error.description
        #expect(text.contains("badImageData (1001)") && text.contains("example.com/a.png"))
        #expect(text.contains("truncatedData (3004)"))
    }

    /// Programs that name their own settings use `limit` and `messageWithoutAdvice`.
    @Test func anErrorOfALimitSaysWhichOneItIs() throws {
        let size = PixelSize(width: 20, height: 10)
        let error = #expect(throws: WebImageError.self) { try DecodeLimits(pixels: 100).check(size) }
        #expect(error?.limit == .pixels)
        #expect(
            error?.message
                == "the picture is 20x10, more than 100 pixels; raise DecodeLimits.pixels (--max-pixels) to allow it")
        #expect(error?.messageWithoutAdvice == "the picture is 20x10, more than 100 pixels")
        let result = #expect(throws: WebImageError.self) { try DecodeLimits(pixels: 100).check(result: size) }
        #expect(result?.limit == .resultPixels)
        #expect(
            result?.message
                == "the result would be 20x10, more than 100 pixels; raise DecodeLimits.pixels (--max-pixels) to allow it"
        )
        var changed = try #require(error)
        changed.message = "it is too large"
        #expect(changed.messageWithoutAdvice == "it is too large")
        #expect(WebImageError(.limitExceeded, "there is no memory").limit == nil)
    }
}
