import WebImageCore

/// The caches that one call goes to, in their order, and whether it goes to all of them at once.
struct CacheChoice: Sendable {
    typealias Call<Value> = @Sendable (any ImageCaching) async throws(WebImageError) -> Value

    let caches: [any ImageCaching]
    let isConcurrent: Bool

    /// Returns the first answer. Caches that are not asked any more, or that answer later, are ignored.
    ///
    /// - Throws: `cancelled`; the first failure, if no cache has an answer.
    func first<Value: Sendable>(_ ask: @escaping Call<Value?>) async throws(WebImageError) -> Value? {
        var failure: WebImageError?
        if isConcurrent {
            let found = await withTaskGroup(of: Result<Value?, WebImageError>.self) { group -> Value? in
                for cache in caches { group.addTask { await Self.result(of: ask, cache) } }
                for await result in group {
                    switch result {
                    case .success(let value?):
                        group.cancelAll()
                        return value
                    case .success(nil): break
                    case .failure(let error): failure = failure ?? error
                    }
                }
                return nil
            }
            if let found { return found }
        } else {
            for cache in caches {
                switch await Self.result(of: ask, cache) {
                case .success(let value?): return value
                case .success(nil): break
                case .failure(let error):
                    if error.code == .cancelled { throw error }
                    failure = failure ?? error
                }
            }
        }
        if let failure { throw failure }
        return nil
    }

    /// Returns the answers of all caches, in no order. All of them are asked, also when one fails.
    ///
    /// - Throws: the first failure.
    func each<Value: Sendable>(_ ask: @escaping Call<Value>) async throws(WebImageError) -> [Value] {
        var results: [Result<Value, WebImageError>] = []
        if isConcurrent {
            results = await withTaskGroup(of: Result<Value, WebImageError>.self) { group in
                for cache in caches { group.addTask { await Self.result(of: ask, cache) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
        } else {
            for cache in caches { results.append(await Self.result(of: ask, cache)) }
        }
        var values: [Value] = []
        for result in results { values.append(try result.get()) }
        return values
    }

    private static func result<Value>(
        of ask: Call<Value>, _ cache: any ImageCaching
    ) async -> Result<Value, WebImageError> {
        do throws(WebImageError) { return .success(try await ask(cache)) } catch { return .failure(error) }
    }
}
