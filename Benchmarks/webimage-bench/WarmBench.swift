import CBench
import WebImage

/// A warm hit through the public call, compared with a look-up of the same keys in a dictionary. Bar: 1.5 times,
/// without allocation.
enum WarmBench {
    static func run() async throws {
        for count in [100, 10_000] { try measure(count) }
        try measureRequestsMadeAnew(5_000)
        try await measureLoads(100_000)
    }

    /// Hits of the functions that answer with a whole response. They have no bar.
    private static func measureLoads(_ count: Int) async throws {
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let manager = ImageManager(configuration: configuration)
        let request = ImageRequest("https://images.example.com/photos/7919/large.jpg?width=640&v=3")
        manager.memoryCache.store(try Image(size: PixelSize(width: 1, height: 1)) { _ in }, for: request.variantKey)
        var (awaited, called): ([Double], [Double]) = ([], [])
        for _ in 0..<5 {
            // Of the process, in microseconds: the task may change its thread.
            var begin = Measure.processCPU
            for _ in 0..<count { _ = try await manager.image(for: request) }
            awaited.append((Measure.processCPU - begin) * 1000 / Double(count))
            begin = Measure.processCPU
            for _ in 0..<count { manager.load(request) { _ in } }
            called.append((Measure.processCPU - begin) * 1000 / Double(count))
        }
        print(
            "one key: await image(for:) \(Measure.text(awaited.sorted()[2], 1)) ns, load(_:onEvent:) "
                + "\(Measure.text(called.sorted()[2], 1)) ns")
    }

    /// Hits for which a whole new request is made, with a size and a priority. Bar: 300 ns each.
    private static func measureRequestsMadeAnew(_ count: Int) throws {
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let manager = ImageManager(configuration: configuration)
        let urls = (0..<count).map { "https://images.example.com/photos/\($0 * 7919)/large.jpg?width=640&v=3" }
        func request(_ url: String) -> ImageRequest {
            ImageRequest(url) {
                $0.size = TargetSize(width: 640, height: 480)
                $0.priority = .high
            }
        }
        for url in urls {
            manager.memoryCache.store(
                try Image(size: PixelSize(width: 1, height: 1)) { _ in }, for: request(url).variantKey)
        }
        var hits = 0
        let times = (0..<21).map { _ in
            let begin = Measure.threadCPU
            for url in urls where manager.cachedImage(for: request(url)) != nil { hits &+= 1 }
            return Double(Measure.threadCPU - begin) / Double(count)
        }.sorted()
        precondition(hits == 21 * count, "a warm hit missed")
        print("\(count) keys, each request made anew: \(Measure.text(times[10], 1)) ns")
    }

    private final class Value {}

    private static func measure(_ count: Int) throws {
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let manager = ImageManager(configuration: configuration)
        var requests: [ImageRequest] = []
        var dictionary: [String: AnyObject] = [:]
        for index in 0..<count {
            let url = "https://images.example.com/photos/\(index * 7919)/large.jpg?width=640&v=3"
            let request = ImageRequest(url)
            let image = try Image(size: PixelSize(width: 1, height: 1)) { _ in }
            manager.memoryCache.store(image, for: request.variantKey)
            requests.append(request)
            dictionary[url] = Value()
        }
        let urls = requests.map(\.url)
        var hits = 0
        let turns = 400_000 / count
        let (ours, theirs, ratio) = Measure.alternating(
            21,
            {
                let begin = Measure.threadCPU
                for _ in 0..<turns {
                    for index in 0..<count where manager.cachedImage(for: requests[index]) != nil { hits &+= 1 }
                }
                return Double(Measure.threadCPU - begin) / Double(turns * count)
            },
            {
                let begin = Measure.threadCPU
                for _ in 0..<turns { for index in 0..<count where dictionary[urls[index]] != nil { hits &+= 1 } }
                return Double(Measure.threadCPU - begin) / Double(turns * count)
            })
        let before = cb_malloc_count()
        for index in 0..<count where manager.cachedImage(for: requests[index]) != nil { hits &+= 1 }
        let allocations = cb_malloc_count() - before
        precondition(hits == (turns * 21 * 2 + 1) * count, "a warm hit missed")
        print(
            "\(count) keys: cachedImage(for:) \(Measure.text(ours, 1)) ns, Dictionary<String, AnyObject> "
                + "\(Measure.text(theirs, 1)) ns, ratio \(Measure.text(ratio)); \(allocations) allocations in \(count) hits"
        )
    }
}
