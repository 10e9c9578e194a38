import RedisClient
import Testing

@Suite struct ConfigurationTests {
    @Test func urlsAreRead() throws {
        var configuration = try RedisConfiguration(url: "redis://cache.example")
        #expect(configuration.address == .tcp(host: "cache.example", port: 6379))
        #expect(configuration.password == nil && !configuration.usesTLS && configuration.database == 0)
        configuration = try RedisConfiguration(url: "rediss://web:a%40b:c@[::1]:7000/3")
        #expect(configuration.address == .tcp(host: "::1", port: 7000))
        #expect(configuration.user == "web" && configuration.password == "a@b:c")
        #expect(configuration.usesTLS && configuration.database == 3)
        configuration = try RedisConfiguration(url: "redis://:secret@10.0.0.1/")
        #expect(configuration.user == nil && configuration.password == "secret")
        configuration = try RedisConfiguration(url: "unix:///run/redis.sock")
        #expect(configuration.address == .unix(path: "/run/redis.sock"))
    }

    @Test(arguments: [
        "", "localhost:6379", "http://a", "redis://", "redis://a:0", "redis://a:x", "redis://a/b", "redis://a:1/-1",
        "redis://[::1", "redis://h h", "redis://h?db=3", "redis://h?db=3:1", "redis://a:b:1", "redis://[]",
        "redis://:%zz@a", "unix://a", "redis://a:65536",
    ])
    func invalidURLsAreRefused(_ url: String) {
        #expect(throws: RedisError.self) { try RedisConfiguration(url: url) }
    }

    @Test func aRefusalTellsNoPassword() {
        do throws(RedisError) {
            _ = try RedisConfiguration(url: "redis://:hunter2@a:x")
        } catch {
            #expect(!"\(error)".contains("hunter2"))
        }
    }

    @Test func aDescriptionTellsNoPassword() throws {
        let configuration = try RedisConfiguration(url: "redis://web:hunter2@a")
        var dumped = ""
        dump([configuration], to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), "\([configuration])", dumped] {
            #expect(!text.contains("hunter2"))
        }
        #expect("\(configuration)".contains("\"a\""))
    }
}
