import WebImageCache
import WebImageCore
import WebImageDownload

/// What the answers of origins leave behind, whoever asked.
extension Loader {
    /// What is told of an answer that a cache gave.
    func head(of stored: StoredResponse) -> ResponseHead { stored.head(by: rules, now: clock.wallTime) }

    /// What the policy and the rules of HTTP say of an entry, or of there being none.
    func decision(_ key: BytesKey, _ stored: StoredResponse?) -> CacheDecision {
        // Another request may have taken what this one would refuse.
        let stored = stored.flatMap { key.settings.accepts($0, for: key.download) ? $0 : nil }
        return rules.decide(
            key.policy.mode, key.settings.cacheRequest(for: key.download), stored: stored, now: clock.wallTime)
    }

    /// Remembers a failure, or forgets one.
    ///
    /// - Parameter request: whoever decoded the bytes: what it says of how to may be why they could not be.
    func noteOutcome(of key: BytesKey, failure: WebImageError?, as request: ImageRequest? = nil) {
        guard let failure else { return failedURLs.succeeded(key.download) }
        let isItsOwn = failure.code == .badImageData && request?.saysHowToDecode == true
        if !isItsOwn { failedURLs.failed(key.download, failure, retryAfter: failure.retryAfter) }
        // There is no such picture any more (RFC 9111 section 4.4 in spirit): what is stored is no longer true.
        if failure.code == .badStatus, failure.status == 404 || failure.status == 410, key.policy.mode.stores {
            forget(key)
        }
    }

    /// Answers with the entry of a cache in place of a body that broke off, where that is still there.
    func standIn(_ stored: StoredResponse, for error: WebImageError, _ jobs: [PixelJob], of bytes: BytesJob) {
        let key = bytes.key
        ioExecutor.run(bytes.priority) { [self] in
            let metadata = try? disk(key.caching)?.readMetadata(key.originalKey)
            let isOnDisk = metadata?.storedResponse.hasSameBody(as: stored) ?? false
            if !isOnDisk { noteOutcome(of: key, failure: error) }
            for job in jobs {
                if !job.wantsData, let image = remembered(job.request, of: stored) {
                    finish(job, .success(ImageResponse(image: image, source: .memory)))
                } else if isOnDisk {
                    finish(job, goingOnWith: .cacheOnly)
                } else {
                    finish(job, .failure(error.endingALoad(of: job.request.place)))
                }
            }
        }
    }

    /// Takes the original out of the disk cache, in the background.
    func forget(_ key: BytesKey) {
        guard let disk = disk(key.caching) else { return }
        let announced = originals.announce()
        ioExecutor.run(.low) {
            do throws(WebImageError) {
                _ = try disk.remove(key.originalKey)
            } catch {
                self.observer.cacheFailed(error)
            }
            announced.withdraw()
        }
    }

    /// Writes what the origin said of an entry that is still good, once `answer` has given it out. For threads that may
    /// block.
    func renew(_ key: BytesKey, _ stored: StoredResponse, _ plan: StorePlan, answer: () -> Void) {
        // Whoever is answered and then waits for the stores finds it there.
        let announced = originals.announce()
        defer { announced.withdraw() }
        answer()
        guard let disk = disk(key.caching) else { return }
        do throws(WebImageError) {
            if let response = plan.storing {
                // Another body may be stored meanwhile, by this process or another: it keeps its own validators.
                _ = try disk.changeMetadata(key.originalKey) { metadata in
                    guard metadata.storedResponse.hasSameBody(as: stored) else { return nil }
                    var metadata = metadata
                    metadata.set(response)
                    return metadata
                }
            } else if plan.removesStored {
                _ = try disk.remove(key.originalKey)
            }
        } catch {
            observer.cacheFailed(error)
        }
    }
}

extension ImageRequest {
    /// Whether it chooses a page, a format or a coder: another request may read the same bytes.
    fileprivate var saysHowToDecode: Bool { page != 0 || formatHint != nil || coder != nil }
}
