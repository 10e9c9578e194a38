/// Waits until a condition that other threads bring about is true, and returns false if it is not true within 180
/// seconds.
package func eventually(_ condition: () -> Bool) async -> Bool {
    let end = ContinuousClock.now + .seconds(180)
    while !condition() {
        if ContinuousClock.now > end { return false }
        await Task.yield()
    }
    return true
}
