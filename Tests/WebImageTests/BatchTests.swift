import HTTPTypes
import Testing
import WebImage
import WebImageCore
import WebImageTesting

@Suite struct BatchTests {
    private let bench = TestBench()

    /// Requests whose answers wait for their gates; every third fails with status 404.
    private func makeList(_ count: Int) throws -> ([ImageRequest], [Gate]) {
        let body = try Fixture.png(8, 8)
        let gates = (0..<count).map { number -> Gate in
            let gate = Gate()
            let answer: FakeAnswer = number % 3 == 2 ? .status(404) : .bytes(body, contentType: "image/png")
            bench.transport.answer("http://pictures.test/\(number)", answer.held(by: gate))
            return gate
        }
        return ((0..<count).map { ImageRequest("http://pictures.test/\($0)") }, gates)
    }

    @Test func allResultsAreInTheOrderOfTheRequests() async throws {
        let (requests, gates) = try makeList(30)
        for gate in gates.reversed() { gate.open() }
        let results = await bench.manager.images(for: requests).all()
        #expect(results.count == 30)
        for (index, result) in results.enumerated() {
            switch result {
            case .success: #expect(index % 3 != 2)
            case .failure(let error): #expect(index % 3 == 2 && error.status == 404)
            }
        }
        #expect(await bench.manager.images(for: []).all().isEmpty)
    }

    @Test func aBatchYieldsResultsAsTheyArrive() async throws {
        let (requests, gates) = try makeList(2)
        gates[1].open()
        var order: [Int] = []
        for await element in bench.manager.images(for: requests) {
            order.append(element.index)
            gates[0].open()
        }
        #expect(order == [1, 0])
    }

    @Test func aBatchLoadsNoFurtherAheadThanItsWindow() async throws {
        let (requests, gates) = try makeList(40)
        for gate in gates { gate.open() }
        var batch = bench.manager.images(for: requests)
        batch.window = 4
        var seen = Set<Int>()
        for await element in batch {
            seen.insert(element.index)
            // No more requests were sent than results were taken plus the window of four.
            #expect(bench.transport.requests.count <= seen.count - 1 + 4)
        }
        #expect(seen == Set(0..<40))
    }

    @Test func aCancelledBatchEndsItsLoadsAndBeginsNoMore() async throws {
        let (requests, gates) = try makeList(20)
        let manager = bench.manager
        let task = Task { () -> [Result<ImageResponse, WebImageError>] in
            var batch = manager.images(for: requests)
            batch.window = 4
            return await batch.all()
        }
        #expect(await bench.transport.waitForHits("http://pictures.test/3"))
        task.cancel()
        let results = await task.value
        #expect(results.count == 20)
        #expect(results.allSatisfy { if case .failure(let error) = $0 { error.code == .cancelled } else { false } })
        #expect(bench.transport.requests.count == 4 && manager.runningLoads == 0)
        for gate in gates { gate.open() }
    }
}
