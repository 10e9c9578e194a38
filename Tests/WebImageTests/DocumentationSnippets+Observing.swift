// The Swift snippets of the guide to observing, word for word: see DocumentationSnippets.swift. Nothing here is called.
import Logging
import WebImage

// Observing.md
private struct Observing {
    func log(to logger: Logger, _ configuration: inout ImageManager.Configuration) {
        configuration.logger = logger
        configuration.download.logger = logger
        configuration.disk?.logger = logger
    }

    func explain(_ request: ImageRequest, by manager: ImageManager) async {
        do {
            print(try await manager.image(for: request).trace)
        } catch {
            print(error, error.trace?.description ?? "")
        }
    }

    func watchTransfers(of manager: ImageManager) async {
        for await event in manager.downloader.events {
            switch event.kind {
            case .started: print("started", event.url)
            case .retrying(let delay, let error): print("again in", delay, error)
            case .finished(let metrics): print("finished", event.url, metrics)
            case .failed(let error): print("failed", error)
            default: break
            }
        }
    }
}
