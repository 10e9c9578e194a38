import WebImageCache
import WebImageCore
import WebImageDownload

/// What the answers of origins leave behind, whoever asked.
extension Loader {
    /// What the policy and the rules of HTTP say of an entry, or of there being none.
    func decision(_ key: BytesKey, _ stored: StoredResponse?) -> CacheDecision {
        HTTPCacheRules.standard.decide(
            key.policy.mode, downloader.cacheRequest(for: key.download), stored: stored, now: clock.wallTime)
    }

    /// The picture when memory has it and HTTP says that it is fresh.
    func freshImage(for request: ImageRequest) -> Image? {
        guard let key = try? BytesKey(request), memory.contains(request.variantKey),
            let image = memory.image(for: request.variantKey), let record = image.storage.origin as? AnswerRecord,
            case .serve = decision(key, record.response)
        else { return nil }
        return image
    }

    /// Remembers a failure, or forgets one.
    func settle(_ key: BytesKey, failure: WebImageError?) {
        guard let failure else { return failedURLs.succeeded(key.download) }
        failedURLs.failed(key.download, failure, retryAfter: failure.retryAfter)
        // There is no such picture any more (RFC 9111 section 4.4 in spirit): what is stored is no longer true.
        if failure.code == .badStatus, failure.status == 404 || failure.status == 410, key.policy.mode.stores {
            forget(key)
        }
    }

    /// Takes the original out of the disk cache, in the background.
    func forget(_ key: BytesKey) {
        guard let originals, let disk else { return }
        originals.announce()
        ioExecutor.run(.low) {
            do throws(WebImageError) {
                _ = try disk.remove(key.originalKey)
            } catch {
                self.observer.cacheFailed(error)
            }
            originals.withdraw()
        }
    }

    /// Writes what the origin said of an entry that is still good, once `answer` has given it out. For threads that may
    /// block.
    func renew(_ key: BytesKey, _ stored: StoredResponse, _ plan: StorePlan, answer: () -> Void) {
        // Whoever is answered and then waits for the stores finds it there.
        originals?.announce()
        defer { originals?.withdraw() }
        answer()
        guard let disk else { return }
        do throws(WebImageError) {
            if let response = plan.storing {
                // Another process may have stored another body meanwhile.
                guard var metadata = try disk.readMetadata(key.originalKey),
                    metadata.storedResponse.hasSameBody(as: stored)
                else { return }
                metadata.set(response)
                _ = try disk.updateMetadata(key.originalKey, metadata)
            } else if plan.removesStored {
                _ = try disk.remove(key.originalKey)
            }
        } catch {
            observer.cacheFailed(error)
        }
    }
}
