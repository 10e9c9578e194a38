import FleetCrypto
import Testing

@Suite struct SecureHashTests {
    /// Two examples of FIPS 180-4.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func digestsAreThoseOfTheStandard(_ text: String, _ digest: String) {
        #expect(Hexadecimal.text(SecureHash.sha256(Array(text.utf8))) == digest)
    }

    /// RFC 4231, cases 2 and 6, and an empty key.
    @Test(arguments: [
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        ([], "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ])
    func codesAreThoseOfTheStandard(_ key: [UInt8], _ message: String, _ code: String) {
        #expect(Hexadecimal.text(SecretKey(key).code(of: Array(message.utf8))) == code)
    }

    @Test func aCodeIsOfItsMessageAndItsKey() {
        let (key, message) = (SecretKey([1, 2, 3]), Array("message".utf8))
        let code = key.code(of: message)
        #expect(key.accepts(code, of: message))
        #expect(!key.accepts(code, of: Array("massage".utf8)))
        #expect(!SecretKey([1, 2, 4]).accepts(code, of: message))
        #expect(!key.accepts(code.dropLast(), of: message))
        #expect(!key.accepts([], of: message))
        #expect(key.accepts(code.prefix(4), of: message, length: 4))
        #expect(!key.accepts(code, of: message, length: 4))
    }
}
