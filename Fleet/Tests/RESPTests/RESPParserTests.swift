import NIOCore
import RESP
import Testing

@Suite struct RESPParserTests {
    /// All values of a text that arrives in one piece.
    private func values(_ text: String, _ limits: RESPLimits = RESPLimits()) throws(RESPError) -> [RESPValue] {
        var parser = RESPParser(limits)
        parser.append(ByteBuffer(string: text))
        var values: [RESPValue] = []
        while let value = try parser.next() { values.append(value) }
        return values
    }

    private static func bulk(_ text: String) -> RESPValue { .bulkString(ByteBuffer(string: text)) }

    private static let examples: [(text: String, value: RESPValue)] = [
        ("+OK\r\n", .simpleString("OK")), ("+\r\n", .simpleString("")), ("-ERR no\r\n", .error("ERR no")),
        (":0\r\n", .number(0)), (":-9223372036854775808\r\n", .number(.min)), (":+7\r\n", .number(7)),
        ("$5\r\nhe\r\no\r\n", bulk("he\r\no")), ("$0\r\n\r\n", bulk("")), ("$-1\r\n", .null), ("*-1\r\n", .null),
        ("_\r\n", .null), ("#t\r\n", .boolean(true)), ("#f\r\n", .boolean(false)), (",1.5e3\r\n", .double(1500)),
        (",-inf\r\n", .double(-.infinity)),
        ("(-34928903284092385094850943850943850\r\n", .bigNumber("-34928903284092385094850943850943850")),
        ("!3\r\nBAD\r\n", .error("BAD")),
        ("=7\r\ntxt:abc\r\n", .verbatimString(format: "txt", ByteBuffer(string: "abc"))),
        ("*0\r\n", .array([])), ("*2\r\n:1\r\n*1\r\n$1\r\na\r\n", .array([.number(1), .array([bulk("a")])])),
        ("~1\r\n+a\r\n", .set([.simpleString("a")])), (">2\r\n+pong\r\n_\r\n", .push([.simpleString("pong"), .null])),
        ("%1\r\n+a\r\n:1\r\n", .map([RESPPair(.simpleString("a"), .number(1))])), ("%0\r\n", .map([])),
        // Attributes are parsed and dropped, also within a value.
        ("|1\r\n+ttl\r\n:3\r\n:5\r\n", .number(5)),
        ("*2\r\n|1\r\n+a\r\n*1\r\n:1\r\n:2\r\n:3\r\n", .array([.number(2), .number(3)])),
    ]

    @Test(arguments: examples.indices) func everyTypeIsRead(_ index: Int) throws {
        let example = Self.examples[index]
        #expect(try values(example.text) == [example.value])
        #expect(try values(example.text + example.text) == [example.value, example.value])
    }

    @Test(arguments: examples.indices) func aValueMayComeByteByByte(_ index: Int) throws {
        let example = Self.examples[index]
        var parser = RESPParser()
        var found: [RESPValue] = []
        for (place, byte) in example.text.utf8.enumerated() {
            parser.append(ByteBuffer(bytes: [byte]))
            while let value = try parser.next() {
                found.append(value)
                #expect(place == example.text.utf8.count - 1)
            }
        }
        #expect(found == [example.value])
        #expect(try parser.next() == nil)
    }

    @Test func encodedValuesAreParsedBack() throws {
        let value = RESPValue.array(Self.examples.map(\.value) + [.double(0.1), .double(.infinity)])
        var buffer = ByteBuffer()
        RESPWriter.write(value, to: &buffer)
        var parser = RESPParser()
        parser.append(buffer)
        #expect(try parser.next() == value)
    }

    @Test func aCommandIsAnArrayOfBulkStrings() throws {
        var buffer = ByteBuffer()
        RESPEncoder.write(command: ["SET", "k\r\n", RESPArgument(ByteBuffer(bytes: [0, 255]))], to: &buffer)
        #expect(
            Array(buffer.readableBytesView) == Array("*3\r\n$3\r\nSET\r\n$3\r\nk\r\n\r\n$2\r\n".utf8) + [
                0, 255, 13, 10,
            ])
    }

    private static let refusals: [(text: String, error: RESPError)] = [
        ("x\r\n", .unknownType(0x78)), ("\r\n", .missingLineEnd), ("\n", .missingLineEnd), ("+a\n", .missingLineEnd),
        ("$1\r\nabc", .missingLineEnd), ("_x\r\n", .missingLineEnd), (":\r\n", .malformedNumber),
        (":1.5\r\n", .malformedNumber), (":9223372036854775808\r\n", .malformedNumber), (": 1\r\n", .malformedNumber),
        ("$-2\r\n", .malformedNumber), ("*-2\r\n", .malformedNumber), ("#x\r\n", .malformedBoolean),
        (",0x1p3\r\n", .malformedDouble), (",infinity\r\n", .malformedDouble), (",\r\n", .malformedDouble),
        ("(12x\r\n", .malformedNumber), ("(-\r\n", .malformedNumber), ("=3\r\ntxt\r\n", .malformedVerbatimString),
        ("=5\r\ntxt-a\r\n", .malformedVerbatimString), ("$?\r\n", .unsupported), ("*?\r\n", .unsupported),
    ]

    @Test(arguments: refusals.indices) func textThatIsNotRESPIsRefused(_ index: Int) {
        let refusal = Self.refusals[index]
        #expect(throws: refusal.error, "\(refusal.text)") { try values(refusal.text) }
    }

    @Test func valuesOverTheLimitsAreRefusedAtTheirHead() {
        var limits = RESPLimits()
        (limits.line, limits.string, limits.depth, limits.members, limits.frame) = (32, 100, 4, 10, 150)
        let cases: [(text: String, error: RESPError)] = [
            ("$101\r\n", .stringTooLong), ("$9223372036854775807\r\n", .stringTooLong), ("!101\r\n", .stringTooLong),
            ("*11\r\n", .tooManyMembers), ("%6\r\n", .tooManyMembers), ("*9223372036854775807\r\n", .tooManyMembers),
            ("%9223372036854775807\r\n", .tooManyMembers), ("*2\r\n*9\r\n", .tooManyMembers),
            ("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", .tooDeep), ("+" + String(repeating: "a", count: 33), .lineTooLong),
            ("*2\r\n$100\r\n" + String(repeating: "a", count: 100) + "\r\n$60\r\n", .frameTooLong),
        ]
        for (text, error) in cases {
            #expect(throws: error, "\(text)") { try values(text, limits) }
        }
        #expect(throws: Never.self) { try values("*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", limits) }
    }

    @Test func anAnnouncedLengthTakesNoMemory() throws {
        var parser = RESPParser()
        parser.append(ByteBuffer(string: "*1000000\r\n$16000000\r\nabc"))
        #expect(try parser.next() == nil)
    }
}
