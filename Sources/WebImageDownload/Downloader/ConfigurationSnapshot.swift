import HTTPTypes
import WebImageCore

/// What all downloads that begin before the next change of the configuration have in common, held by one reference. A load
/// takes one when it begins and goes by it to its end: what it looks for, what is sent and under which name the answer is
/// stored belong together.
package final class ConfigurationSnapshot: Sendable {
    /// How many changes of what is sent there were before: what was answered under one number may not be good under another.
    package let number: Int
    let configuration: DownloadConfiguration
    /// A request as the configuration says, for those that say nothing else: they share what they have in common.
    let usualRequest: TransportRequest
    let logSettings: ByteLog.Settings
    let bodyLimit: ByteCount
    let decryptor: BodyDecryptor?
    /// Those of the configuration's secret fields that a server of pictures gets to see.
    let secretNames: [HTTPField.Name]

    init(_ configuration: DownloadConfiguration, number: Int = 0) {
        self.number = number
        self.configuration = configuration
        usualRequest = TransportRequest(
            url: "", tls: configuration.tls, proxy: configuration.proxy, allowsHTTP2: configuration.allowsHTTP2,
            addressPolicy: configuration.addressPolicy, mayRepeat: configuration.retry.retries > 0)
        var settings = ByteLog.Settings()
        settings.memoryLimit = configuration.memoryPerTransfer.bytes
        settings.directory = configuration.temporaryDirectory
        logSettings = settings
        bodyLimit = configuration.bodyLimit
        decryptor = configuration.decryptor
        secretNames = configuration.secretHeaders.filter { $0 != .proxyAuthorization }
            .sorted { $0.canonicalName < $1.canonicalName }
    }

    /// The fields of a request before anybody changes them.
    func fields(of request: borrowing DownloadRequest) -> HTTPFields {
        var fields = configuration.headers
        guard let own = request.changedOptions?.value.headers, !own.isEmpty else { return fields }
        for field in own { fields[field.name] = nil }
        fields.append(contentsOf: own)
        return fields
    }
}

extension ConfigurationSnapshot: Hashable {
    package static func == (one: ConfigurationSnapshot, other: ConfigurationSnapshot) -> Bool {
        one.number == other.number
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
