import HTTPTypes
import Synchronization
import Testing
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Two users share a cache. Neither ever gets the other's picture, whatever tells the origin which user asks (findings
/// L3, H6, L9, L10).
@Suite struct UsersApartTests {
    private static let policies: [CachePolicy] = [.cacheFirst, .protocol, .revalidate, .refresh, .cacheOnly]

    private struct Table {
        let one: ApartCase
        let folder: TemporaryFolder
        let pictures: [String?: [UInt8]]

        init(_ one: ApartCase) throws {
            self.one = one
            folder = try TemporaryFolder()
            var pictures: [String?: [UInt8]] = [nil: try Fixture.png(Asker.strangersSide, 12)]
            for asker in Asker.allCases { pictures[asker.rawValue] = try Fixture.png(asker.side, 12) }
            self.pictures = pictures
        }

        /// A manager that the session's user uses, with the origin of the case.
        func bench(
            _ session: Session, keepsKeys: Bool = true, gate: Gate? = nil, cache: ImageCache? = nil
        ) -> TestBench {
            let bench = TestBench(disk: "\(folder.path)/cache") { configuration in
                configuration.cache = cache
                one.configure(&configuration.download, session)
                configuration.disk?.keepsKeys = keepsKeys
            }
            bench.transport.answerAll { [one, pictures] request in
                let asker = ApartCase.asker(of: request)
                if let redirect = one.redirect, request.url == one.url {
                    let (target, fields) = redirect(asker ?? "nobody")
                    return .status(302, headers: fields.with(.location, target))
                }
                var fields = one.answer
                // All users' pictures have the same validator, as with some origins.
                fields[.eTag] = "\"1\""
                let answer = FakeAnswer.bytes(pictures[asker] ?? [], contentType: "image/png", headers: fields)
                return gate.map { answer.held(by: $0) } ?? answer
            }
            one.login(bench.manager, session)
            return bench
        }

        func session(_ asker: Asker) -> Session { Session(asker, folder: folder.path) }
    }

    /// The widths of the pictures that a manager gives to the session's user, with each policy and in each other way.
    private func everything(_ table: Table, _ bench: TestBench, _ session: Session) async throws -> [Int] {
        var sides: [Int] = []
        for policy in Self.policies {
            var request = table.one.request(session)
            request.caching.policy = policy
            if let image = bench.manager.cachedImage(for: request) { sides.append(image.size.width) }
            do {
                sides.append(try await bench.manager.image(for: request).image.size.width)
            } catch {
                #expect(error.code == .cacheMiss && policy == .cacheOnly, "\(error)")
            }
        }
        var other = table.one.request(session)
        other.size = TargetSize(width: 100)
        other.caching.sizePrecision = .inexact
        sides.append(try await bench.manager.image(for: other).image.size.width)
        var small = table.one.request(session)
        small.size = TargetSize(width: 5)
        // The heights of the users' pictures, and of a stranger's, at a width of 5.
        let heights = [6: 10, 3: 20, 2: Asker.strangersSide]
        sides.append(heights[try await bench.manager.image(for: small).image.size.height] ?? 0)
        let data = try await bench.manager.data(for: table.one.request(session))
        sides.append(try await Image(data: data).size.width)
        await bench.manager.finishStores()
        return sides
    }

    @Test(arguments: ApartCase.all) func usersOfOneManagerInTurnGetTheirOwnPictures(_ one: ApartCase) async throws {
        let table = try Table(one)
        let session = table.session(.anna)
        let bench = table.bench(session)
        for asker in [Asker.anna, .otto, .anna] {
            session.asker = asker
            one.login(bench.manager, session)
            #expect(Set(try await everything(table, bench, session)) == [asker.side])
            bench.manager.memoryCache.removeAll()
            #expect(Set(try await everything(table, bench, session)) == [asker.side], "from disk")
        }
    }

    /// Users are not kept apart merely by caching nothing.
    @Test(arguments: ApartCase.all) func aUserWhoAsksAgainIsAnsweredByACache(_ one: ApartCase) async throws {
        let table = try Table(one)
        let session = table.session(.anna)
        let bench = table.bench(session)
        _ = try await bench.manager.image(for: one.request(session))
        await bench.manager.finishStores()
        let count = bench.transport.requests.count
        #expect(try await bench.manager.image(for: one.request(session)).source == .memory)
        bench.manager.memoryCache.removeAll()
        #expect(try await bench.manager.image(for: one.request(session)).source == .disk)
        #expect(bench.transport.requests.count == count)
    }

    @Test(arguments: ApartCase.all) func usersOfOneManagerAtOnceGetTheirOwnPictures(_ one: ApartCase) async throws {
        let table = try Table(one)
        let gate = Gate()
        let session = table.session(.anna)
        let bench = table.bench(session, gate: gate)
        let ledgers = [Ledger(), Ledger()]
        for (asker, ledger) in zip(Asker.allCases, ledgers) {
            session.asker = asker
            one.login(bench.manager, session)
            bench.manager.load(one.request(session)) { ledger.take($0) }
            // Each load has a transfer of its own, which waits for its picture.
            let count = ledger === ledgers[0] ? 1 : 2
            #expect(await eventually { bench.pictureRequests(one) == count }, "the second joined the first")
        }
        gate.open()
        for (asker, ledger) in zip(Asker.allCases, ledgers) {
            #expect(try await ledger.finished().get().image.size.width == asker.side)
        }
    }

    @Test(arguments: ApartCase.all, [true, false])
    func usersOfTwoManagersOnOneFolderGetTheirOwnPictures(_ one: ApartCase, keepsKeys: Bool) async throws {
        let table = try Table(one)
        let sessions = Asker.allCases.map { table.session($0) }
        let benches = sessions.map { table.bench($0, keepsKeys: keepsKeys) }
        for _ in 0..<2 {
            for (session, bench) in zip(sessions, benches) {
                // Signs in again, because the two sessions may share a file.
                one.login(bench.manager, session)
                #expect(Set(try await everything(table, bench, session)) == [session.asker.side])
                bench.manager.memoryCache.removeAll()
            }
        }
    }

    @Test(arguments: ApartCase.all)
    func usersOfTwoManagersWithOneCacheGetTheirOwnPictures(_ one: ApartCase) async throws {
        let table = try Table(one)
        let disk = DiskCacheConfiguration(directory: "\(table.folder.path)/cache")
        let cache = ImageCache(configuration: .init(disk: disk))
        let sessions = Asker.allCases.map { table.session($0) }
        let benches = sessions.map { table.bench($0, cache: cache) }
        for _ in 0..<2 {
            for (session, bench) in zip(sessions, benches) {
                // Signs in again, because the two sessions may share a file.
                one.login(bench.manager, session)
                #expect(Set(try await everything(table, bench, session)) == [session.asker.side])
            }
        }
    }

    /// A picture in memory that was good for the user of one manager once passed unchecked for the user of another
    /// manager with the same cache: both managers counted the changes of their settings from 0.
    @Test(arguments: 0..<3, 0..<3)
    func aPictureThatIsGoodForOneManagerIsJudgedAgainForAnother(changes: Int, othersChanges: Int) async throws {
        let url = "http://pictures.test/me.png"
        let pictures = try Dictionary(
            uniqueKeysWithValues: Asker.allCases.map { ("Bearer \($0)", try Fixture.png($0.side, 12)) })
        let cache = ImageCache()
        let benches = zip(Asker.allCases, [changes, othersChanges]).map { asker, changes in
            let bench = TestBench {
                $0.cache = cache
                $0.download.headers[.authorization] = "Bearer \(asker)"
            }
            bench.transport.answerAll { request in
                .bytes(pictures[request.headers[.authorization] ?? ""] ?? [], contentType: "image/png")
            }
            for _ in 0..<changes { bench.manager.downloader.configuration.headers[.accept] = "image/png" }
            return bench
        }
        for _ in 0..<2 {
            for (asker, bench) in zip(Asker.allCases, benches) {
                #expect(bench.manager.cachedImage(for: ImageRequest(url)) == nil, "the other's picture is in memory")
                #expect(try await bench.manager.image(for: ImageRequest(url)).image.size.width == asker.side)
                // From now on the picture is known to be good for this manager.
                for _ in 0..<2 {
                    #expect(bench.manager.cachedImage(for: ImageRequest(url))?.size.width == asker.side)
                }
                // Pictures that are outdated change the number by which others are judged.
                bench.manager.loader.answers.outdate(CacheKey("other"))
            }
        }
    }

    /// A partial body of one user is not resumed for the other.
    @Test func aPartialBodyOfOneUserIsNotResumedForAnother() async throws {
        let folder = try TemporaryFolder()
        let bodies = try [10, 20].map { try Fixture.gradient(400, 300 + $0).encoded(as: .bmp) }
        let session = Session(.anna, folder: folder.path)
        let bench = TestBench(disk: folder.path) { $0.download.cookieJar = session.jar }
        bench.transport.answerAll { request in
            let isAnna = ApartCase.asker(of: request) == "anna"
            let answer = FakeAnswer.bytes(
                bodies[isAnna ? 0 : 1], contentType: "image/bmp", headers: [.eTag: "\"same\"", .acceptRanges: "bytes"])
            return isAnna ? answer.failing(after: 300_000) : answer
        }
        var request = ImageRequest("http://pictures.test/long.bmp")
        request.http.handlesCookies = true
        request.includesData = true
        session.jar.store(["session=anna"], from: request.url)
        await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        let partials = try #require(bench.manager.ownCache.partials)
        #expect(await eventually { partials.usedBytes.bytes > 0 })
        session.jar.store(["session=otto"], from: request.url)
        #expect(try await bench.manager.image(for: request).data == bodies[1])
        #expect(bench.transport.requests.allSatisfy { $0.headers[.range] == nil })
    }

    /// L10: a netrc entry for one host, or the default entry, is not sent to another host after a redirect.
    @Test func aNetrcFileIsNotUsedAfterARedirectToAnotherHost() async throws {
        let bench = TestBench()
        bench.transport.answer("http://pictures.test/a", .redirect(to: "http://elsewhere.test/a"))
        bench.transport.answer("http://elsewhere.test/a", .redirect(to: "http://pictures.test/b"))
        bench.answer("http://pictures.test/b", with: try Fixture.png(8, 8), type: "image/png")
        var request = ImageRequest("http://pictures.test/a")
        request.http.netrcFile = "/nowhere/netrc"
        _ = try await bench.manager.image(for: request)
        #expect(bench.transport.requests.map(\.netrcFile) == ["/nowhere/netrc", nil, nil])
    }

    /// L6: a load uses the same settings for its lookup, its request and the key of the stored answer, even if they
    /// change meanwhile.
    @Test func aLoadGoesByTheSettingsItBeganWith() async throws {
        let table = try Table(try #require(ApartCase.all.first { $0.name == "a provider of the downloader's" }))
        let (asked, goesOn) = (Gate(), Gate())
        let session = table.session(.anna)
        let bench = table.bench(session)
        func login(_ asker: Asker) {
            session.asker = asker
            table.one.login(bench.manager, session)
        }
        var request = table.one.request(session)
        // Holds the load between its start and its transfer.
        request.http.requestModifier = RequestModifier(name: "holds") { given in
            asked.open()
            await goesOn.opened()
            return given
        }
        let ledgers = [Ledger(), Ledger()]
        bench.manager.load(request) { ledgers[0].take($0) }
        await asked.opened()
        login(.otto)
        bench.manager.load(request) { ledgers[1].take($0) }
        goesOn.open()
        for (asker, ledger) in zip(Asker.allCases, ledgers) {
            #expect(try await ledger.finished().get().image.size.width == asker.side, "\(asker)")
        }
        for asker in [Asker.anna, .otto, .anna] {
            login(asker)
            for _ in 0..<2 {
                #expect(try await bench.manager.image(for: request).image.size.width == asker.side, "\(asker)")
                await bench.manager.finishStores()
                bench.manager.memoryCache.removeAll()
            }
        }
    }

    /// L9: a header field cannot imitate the other parts of a key, and a request's own loader is part of the key.
    @Test func aHeaderCannotImitateOtherPartsOfAKey() throws {
        let url = "http://pictures.test/a"
        for (name, change) in [
            ("Who", { (request: inout ImageRequest) in request.http.credentialScope = "x" }),
            ("Ask", { $0.http.requestModifier = RequestModifier(name: "x") { $0 } }),
            ("Answer", { $0.http.responseModifier = ResponseModifier(name: "x") { $0 } }),
            ("Decrypt", { $0.http.decryptor = BodyDecryptor(name: "x") { bytes, _ in bytes } }),
            ("Load", { $0.http.loader = OneLoader(name: "x") }),
        ] as [(String, (inout ImageRequest) -> Void)] {
            var own = ImageRequest(url)
            change(&own)
            var named = ImageRequest(url)
            named.http.headers[try #require(HTTPField.Name(name))] = "x"
            #expect(Set([own, named, ImageRequest(url)].map(\.originalKey)).count == 3, "\(name)")
        }
        // The manager's loader for a scheme belongs to the meaning of such URLs, so it is not part of the key.
        let bench = TestBench { $0.download.loaders = [OneLoader(name: "x")] }
        let usual = ImageRequest("one:1")
        #expect(
            bench.manager.loader.door.enterAtOnce(usual, by: bench.manager.downloader.snapshot).originalKey
                == usual.originalKey)
    }

    private struct OneLoader: ImageLoader {
        let name: String

        func canLoad(_ url: String) -> Bool { true }

        func load(_ url: String, to receiver: ImageReceiver) async throws {}
    }

    /// H5: insignificant blanks, and directives for caches only, do not change the identity of a request.
    @Test(arguments: [
        (["Accept": "image/png,image/*;q=0.5"], ["Accept": " image/png ,\timage/* ; q=0.5 "], true),
        (["X-A": "1,2"], ["X-A": "1, 2"], true), (["X-A": "1 2"], ["X-A": "12"], false),
        (["X-A": "2,1"], ["X-A": "1,2"], false), (["Accept": "x;y=\"a b\""], ["Accept": "x;y=\"ab\""], false),
        (["Authorization": "Bearer a,b"], ["Authorization": "Bearer a, b"], false),
        (["Cache-Control": "no-cache"], [:], true), (["Pragma": "no-cache"], [:], true),
        (["Cache-Control": "max-stale=10", "X-A": "1"], ["X-A": "1"], true), (["X-A": ""], [:], false),
    ])
    func equivalentHeadersGiveTheSameKey(_ one: [String: String], _ other: [String: String], _ isSame: Bool) throws {
        let keys = try [one, other].map { fields in
            var request = ImageRequest("http://pictures.test/a")
            for (name, value) in fields { request.http.headers[try #require(HTTPField.Name(name))] = value }
            return request.originalKey
        }
        #expect((keys[0] == keys[1]) == isSame)
    }

    @Test func severalFieldsOfOneNameAreAListInOrder() {
        func key(_ values: String...) -> CacheKey {
            var request = ImageRequest("http://pictures.test/a")
            for value in values { request.http.headers.append(HTTPField(name: .accept, value: value)) }
            return request.originalKey
        }
        #expect(key("a/b", "c/d") == key("a/b, c/d") && key("a/b", "c/d") != key("c/d", "a/b"))
    }
}

extension TestBench {
    /// The number of requests for a picture, without those that are answered by a redirect.
    fileprivate func pictureRequests(_ one: ApartCase) -> Int {
        transport.requests.count { one.redirect == nil || $0.url != one.url }
    }
}

extension HTTPFields {
    fileprivate func with(_ name: HTTPField.Name, _ value: String) -> HTTPFields {
        var fields = self
        fields[name] = value
        return fields
    }
}
