import Testing
import WebImage
import WebImageCore
import WebImageTesting

/// Two users share a cache folder, each with processes of their own. Neither gets the other's picture (finding L3).
struct UsersApartCommandTests {
    /// The arguments name the user; the star stands for the name.
    @Test(
        arguments: [
            ["--header", "Cookie: session=*"], ["--header", "Authorization: Bearer *"], ["--user", "*:x"],
            ["--user", "user:*"], ["--netrc"],
        ])
    func noUserGetsAnotherUsersPicture(words: [String]) async throws {
        let bench = try CommandBench()
        let pictures = ["anna": try Pictures.png(10, 10), "otto": try Pictures.png(20, 20)]
        bench.origin.serve("/me.png") { request in
            // The names as plain text, and in the Base64 of Basic credentials: "anna:x", "user:anna", and the same for
            // otto.
            let names = [
                "anna": ["anna", "YW5uYTp4", "dXNlcjphbm5h"], "otto": ["otto", "b3R0bzp4", "dXNlcjpvdHRv"],
            ]
            let told = [request.header("Authorization"), request.header("Cookie")].compactMap { $0 }.joined()
            let asker = names.first { $0.value.contains { told.contains($0) } }?.key
            return .bytes(asker.flatMap { pictures[$0] } ?? [], contentType: "image/png", etag: "\"1\"")
        }
        let url = bench.origin.url("/me.png")
        // Passwords and logins of `.netrc` are not part of the key, so the entry is that of the last user.
        let sharesEntry = words == ["--user", "user:*"] || words == ["--netrc"]
        for (index, asker) in ["anna", "otto", "otto", "anna"].enumerated() {
            try bench.write(Array("machine 127.0.0.1 login \(asker) password x\n".utf8), to: ".netrc")
            let own = words.map { $0.replacing("*", with: asker) }
            let first = index < 2 || (index == 3 && sharesEntry) ? "network" : "disk"
            for source in [first, "disk", "disk"] {
                let run = try await bench.run(["fetch", url, "-o", "out.png", "--json"] + own)
                #expect(run.code == 0 && bench.read("out.png") == pictures[asker], "\(asker), \(run.errors)")
                #expect(try run.objects.first?.text("source") == source, "\(asker)")
            }
        }
    }
}
