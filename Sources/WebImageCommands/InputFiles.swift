import Foundation
import WebImage

/// The files that a command reads: the inputs that are local files, and the list that names inputs. No output may
/// replace one before it is read.
struct InputFiles: Sendable {
    /// An input may be given twice, or be a hard link of another one.
    private var inputs: [FileIdentity: Set<Int>] = [:]
    private var list: FileIdentity?

    /// - Parameter list: the path of the list; nil or `-` if it is no file.
    init(_ inputs: [String], list: String?) {
        for (index, input) in inputs.enumerated() {
            let path = input.lowercased().hasPrefix("file:") ? URL(string: input)?.path ?? input : input
            if let identity = FileIdentity(path) { self.inputs[identity, default: []].insert(index) }
        }
        if let list, list != "-" { self.list = FileIdentity(list) }
    }

    func contains(_ path: String) -> Bool {
        guard let identity = FileIdentity(path) else { return false }
        return identity == list || inputs[identity] != nil
    }

    /// - Parameter own: the input whose output has this path, and which may be replaced; nil if there is none.
    /// - Throws: `cannotWrite` if the path is one of the inputs, or the list.
    func checkIsNoInput(_ path: String, except own: Int?) throws(WebImageError) {
        try checkIsNoList(path)
        guard !inputs.isEmpty, let identity = FileIdentity(path), let indices = inputs[identity] else { return }
        if let own, indices.contains(own) { return }
        throw WebImageError(
            .cannotWrite, "'\(Console.shown(path))' is one of the inputs, which the output would replace",
            location: path)
    }

    /// - Throws: `cannotWrite` if the path is the list.
    func checkIsNoList(_ path: String) throws(WebImageError) {
        guard let list, FileIdentity(path) == list else { return }
        throw WebImageError(
            .cannotWrite, "'\(Console.shown(path))' is the list of the inputs, which the output would replace",
            location: path)
    }
}
