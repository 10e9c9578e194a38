import CBench
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Sums and medians of measurements.
enum Measure {
    /// The CPU time of this thread, in nanoseconds.
    static var threadCPU: UInt64 { UInt64(cb_thread_cpu_nanoseconds()) }

    /// The CPU time of all threads, in nanoseconds.
    static var processCPUNanoseconds: UInt64 { cb_process_cpu_nanoseconds() }

    /// The CPU time of the process, in microseconds.
    static var processCPU: Double { Double(processCPUNanoseconds) / 1e3 }

    /// The CPU time of these children and of those that have ended, in nanoseconds (Linux).
    static func nanoseconds(of children: [Int32]) -> Int {
        var sum = Int(cb_children_cpu_nanoseconds())
        for process in children {
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
            for thread in threads {
                let path = "/proc/\(process)/task/\(thread)/schedstat"
                let text = try? String(contentsOfFile: path, encoding: .utf8)
                sum += text?.split(separator: " ").first.flatMap { Int($0) } ?? 0
            }
        }
        return sum
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    static func text(_ value: Double, _ digits: Int = 2) -> String {
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        return "\((value * scale).rounded() / scale)"
    }

    /// Runs two functions in turn, so that other work of the machine affects both, and compares their medians.
    static func alternating(_ rounds: Int, _ first: () -> Double, _ second: () -> Double) -> (
        Double, Double, ratio: Double
    ) {
        var (firsts, seconds, ratios) = ([Double](), [Double](), [Double]())
        for _ in 0..<rounds {
            let (a, b) = (first(), second())
            firsts.append(a)
            seconds.append(b)
            ratios.append(a / b)
        }
        return (median(firsts), median(seconds), median(ratios))
    }
}

/// The resident memory of the process in MiB, as the kernel reports it (Linux).
enum Resident {
    static var now: Double { field("VmRSS:") }
    /// The peak since ``forgetPeak()``.
    static var peak: Double { field("VmHWM:") }

    static func forgetPeak() {
        guard let file = fopen("/proc/self/clear_refs", "w") else { return }
        fputs("5", file)
        fclose(file)
    }

    /// A field of the kernel's report, in MiB.
    private static func field(_ name: String) -> Double {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) })
        else { return 0 }
        return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Double($0) }.map {
            $0 / 1024
        } ?? 0
    }
}
