public import NIOCore
import NIOHTTP1
import S3Signing

extension S3Client {
    /// Reads an object, or the beginning of one.
    ///
    /// - Parameters:
    ///   - key: without the prefix.
    ///   - most: how many bytes to read, at least one; a server that ignores ranges sends more. Nil: the whole object.
    /// - Returns: nil if there is no such object. A missing bucket is an error.
    /// - Throws: within the read deadline. `tooLarge` if the object is longer than ``S3Configuration/longestBody``.
    /// - Complexity: the memory of the body, or up to twice as much while it is received if the server does not state
    ///   its length.
    public func get(_ key: String, upTo most: Int? = nil) async throws(S3Error) -> S3Object? {
        let range = most.map { [S3Field("range", "bytes=0-\($0 - 1)")] } ?? []
        let request = S3Request("GET", try configuration.object(key), headers: range)
        let answer = try await send(request, deadline: configuration.readDeadline)
        return answer.status == 404 ? nil : S3Object(answer)
    }

    /// Writes an object, replacing any object with the same key. Other clients see the whole object or none of it.
    ///
    /// - Parameters:
    ///   - metadata: names of letters, digits and hyphens, each used once regardless of case; values of printable
    ///     ASCII, without blanks at their ends. 2,048 bytes in all.
    ///   - contentType: nil: the server decides.
    ///   - replaced: the ``S3Object/etag`` of the object that may be replaced; nil: any. Some storages ignore the condition.
    ///     If one refuses it, it is not sent any more.
    /// - Returns: false if the object is another one by now, or gone.
    /// - Throws: within the write deadline. `invalid` if S3 does not allow the key or the metadata, or if the body is
    ///   longer than ``S3Configuration/longestBody``.
    @discardableResult public func put(
        _ key: String, _ body: ByteBuffer, metadata: [(String, String)] = [], contentType: String? = nil,
        replacing replaced: String? = nil
    ) async throws(S3Error) -> Bool {
        guard body.readableBytes <= configuration.longestBody else {
            throw .invalid("The body of an object is longer than \(configuration.longestBody) bytes.")
        }
        var headers = try Metadata.headers(metadata)
        if let contentType {
            try Metadata.checkValue(contentType)
            headers.append(S3Field("content-type", contentType))
        }
        let isConditional = replaced != nil && knowsConditions
        if isConditional, let replaced {
            try Metadata.checkValue(replaced)
            headers.append(S3Field("if-match", replaced))
        }
        let location = try configuration.object(key)
        let hash = configuration.signsRequests ? body.withUnsafeReadableBytes { S3PayloadHash.of($0) } : .unsigned
        let request = S3Request("PUT", location, headers: headers, payload: hash)
        let answer: Answer
        do throws(S3Error) {
            answer = try await send(request, body, deadline: configuration.writeDeadline)
        } catch {
            guard isConditional, error == .conditionRefused else { throw error }
            forgetConditions()
            return try await put(key, body, metadata: metadata, contentType: contentType)
        }
        return 200..<300 ~= answer.status
    }

    /// Removes an object. It is not an error if there is none.
    ///
    /// - Throws: within the read deadline.
    public func remove(_ key: String) async throws(S3Error) {
        let request = S3Request("DELETE", try configuration.object(key))
        _ = try await send(request, deadline: configuration.readDeadline)
    }
}

extension S3Configuration {
    /// - Parameter key: the whole key, with the prefix.
    func location(_ key: String) -> S3Location {
        S3Location(endpoint: endpoint, region: region, bucket: bucket, key: key, usesPathStyle: usesPathStyle)
    }

    /// - Parameter key: without the prefix.
    func object(_ key: String) throws(S3Error) -> S3Location {
        guard !key.isEmpty else { throw .invalid("A key of S3 is empty.") }
        let whole = prefix + key
        try S3Key.check(whole)
        return location(whole)
    }
}

extension Answer {
    /// Nil if the status is 200 to 299, 404 because there is no such object, or says that a condition is not met.
    func error(to request: S3Request) -> S3Error? {
        let method = request.method
        let isConditional = request.headers.contains { $0.name == "if-match" }
        switch status {
        case 200..<300: return nil
        // 409: another write of the object is under way.
        case 409 where isConditional, 412 where isConditional: return nil
        case 400 where isConditional, 501 where isConditional: return .conditionRefused
        case 404:
            let code = ErrorDocument(body).code
            let isMissing =
                switch method {
                // An answer to HEAD has no body.
                case "HEAD": true
                case "GET": code == "NoSuchKey"
                case "DELETE": code != "NoSuchBucket"
                case "PUT": isConditional && code == "NoSuchKey"
                default: false
                }
            return isMissing ? nil : refusal
        case 300..<400:
            let document = ErrorDocument(body)
            let region = headers.first(name: "x-amz-bucket-region").map { String($0.prefix(64)) } ?? document.region
            return .redirected(status: status, code: document.code, message: document.message, region: region)
        case 429, 500...: return .unavailable(status: status, code: ErrorDocument(body).code)
        default: return refusal
        }
    }

    private var refusal: S3Error {
        let document = ErrorDocument(body)
        return .refused(status: status, code: document.code, message: document.message)
    }
}
