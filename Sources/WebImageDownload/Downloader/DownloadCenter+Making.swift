import WebImageCore
import WebImageSystem

/// Creates the parts of a download: its transfer, and the log for its bytes.
extension DownloadCenter {
    func makeTransfer(
        _ id: TransferQueue.ID, _ resolved: ResolvedRequest, _ priority: LoadPriority,
        _ snapshot: ConfigurationSnapshot
    ) -> (any Transfer, DecryptingPump?, ByteLog) {
        let log = makeLog(snapshot)
        let options = resolved.request.changedOptions
        let limit = snapshot.bodyLimit(of: resolved).bytes
        let transfer: any Transfer
        if let url = resolved.web {
            transfer = WebTransfer(
                id: id, plan: TransferPlan(url: url, request: resolved, snapshot: snapshot), log: log,
                surroundings: surroundings, owner: self)
        } else if case .loader(let loader, let url) = resolved.source {
            transfer = LoaderTransfer(
                id: id, loader: loader, url: url, rules: loaderRules(resolved.request, limit, snapshot), log: log,
                surroundings: surroundings, owner: self)
        } else {
            transfer = LocalTransfer(
                id: id, source: resolved.source, limit: limit, priority: priority, log: log, files: files,
                executor: executor, surroundings: surroundings, owner: self)
        }
        guard let decryptor = options?.value.decryptor ?? snapshot.decryptor else {
            return (transfer, nil, log)
        }
        let clear = makeLog(snapshot)
        let pump = DecryptingPump(
            decryptor, from: log, to: clear, limit: limit, place: resolved.source.shown, executor: executor,
            budget: budget)
        return (transfer, pump, clear)
    }

    func makeLog(
        of beginning: any PartialBody, continuedBy download: Download, _ head: ResponseHead,
        limit: ByteCount, whenBegun: @escaping @Sendable (ByteLog?) -> Void
    ) {
        let log = makeLog(snapshot)
        ContinuedLog(
            beginning, rest: download.log, into: log, executor: executor, budget: budget, limit: limit.bytes
        )
        .start(head, whenBegun: whenBegun)
    }

    private func loaderRules(
        _ request: DownloadRequest, _ limit: Int, _ snapshot: ConfigurationSnapshot
    ) -> LoaderTransfer.Rules {
        LoaderTransfer.Rules(
            bodyLimit: limit, totalDeadline: (request.options.deadlines ?? snapshot.configuration.deadlines).total,
            minimumProgressInterval: snapshot.configuration.minimumProgressInterval)
    }

    private func makeLog(_ snapshot: ConfigurationSnapshot) -> ByteLog {
        ByteLog(settings: snapshot.logSettings, budget: budget, files: files, executor: executor)
    }
}
