import Synchronization
import Testing
import WebImageTesting

@testable import ServerImages

@Suite struct HedgeTests {
    /// The value of a hedge for which even numbers are good.
    private func value(
        patience: Duration, _ cheap: @escaping @Sendable () async -> Int?,
        orElse dear: @escaping @Sendable () async -> Int
    ) async -> Int {
        await Hedge(patience: patience) { $0 % 2 == 0 }.value(cheap, orElse: dear)
    }

    private static let long = Duration.seconds(1000)

    @Test func aValueOfTheCheapCallIsUsedWithoutTheDearCall() async {
        let calls = Mutex(0)
        let value = await value(patience: Self.long) {
            2
        } orElse: {
            calls.withLock { $0 += 1 }
            return 4
        }
        #expect(value == 2 && calls.withLock { $0 } == 0)
    }

    @Test func theDearCallBeginsAtOnceIfTheCheapOneGivesNothing() async {
        #expect(await value(patience: Self.long, { nil }, orElse: { 4 }) == 4)
        #expect(await value(patience: Self.long, { nil }, orElse: { 5 }) == 5, "also where it is not good")
    }

    @Test func theDearCallBeginsIfTheCheapOneTakesTooLong() async {
        let gate = Gate()
        let isCancelled = Gate()
        let value = await value(patience: .zero) {
            await withTaskCancellationHandler {
                await gate.opened()
            } onCancel: {
                isCancelled.open()
            }
            return 2
        } orElse: {
            4
        }
        #expect(value == 4)
        await isCancelled.opened()
        gate.open()
    }

    /// The hedge does not wait for the expensive call, which is no longer needed.
    @Test func theDearCallIsCancelledIfTheCheapOneIsFasterAfterAll() async {
        let (begun, goesOn, isCancelled) = (Gate(), Gate(), Gate())
        let value = await value(patience: .zero) {
            await begun.opened()
            return 2
        } orElse: {
            begun.open()
            await withTaskCancellationHandler {
                await goesOn.opened()
            } onCancel: {
                isCancelled.open()
            }
            return 4
        }
        #expect(value == 2)
        await isCancelled.opened()
        goesOn.open()
    }

    /// For example, the origin fails, and a slow storage may still have the result.
    @Test(arguments: [(2, 2), (nil, 5)] as [(Int?, Int)])
    func aBadValueOfTheDearCallWaitsForTheCheapOne(_ cheap: Int?, _ expected: Int) async {
        let isBad = Gate()
        let value = await value(patience: .zero) {
            await isBad.opened()
            return cheap
        } orElse: {
            isBad.open()
            return 5
        }
        #expect(value == expected)
    }

    @Test func cancellationReachesTheCheapCall() async {
        let (begun, never) = (Gate(), Gate())
        let task = Task {
            await value(patience: Self.long) {
                begun.open()
                await withTaskCancellationHandler {
                    await never.opened()
                } onCancel: {
                    never.open()
                }
                return nil
            } orElse: {
                5
            }
        }
        await begun.opened()
        task.cancel()
        #expect(await task.value == 5)
    }
}
