import HTTPTypes
package import WebImageCore

/// The settings of all downloads that begin before the configuration changes again, held by one reference. A load takes
/// a snapshot when it begins and uses it to its end, so that the key that it looks up, the fields that it sends and the
/// key that the answer is stored under belong together.
package final class ConfigurationSnapshot: Sendable {
    /// The number of the settings by which requests are sent (``SettingsCounter``). An answer received under one number
    /// may not be valid under another.
    package let number: Int
    let configuration: DownloadConfiguration
    /// The request with the configuration's settings; requests that change none of them share its storage.
    let usualRequest: TransportRequest
    let logSettings: ByteLog.Settings
    let bodyLimit: ByteCount
    let decryptor: BodyDecryptor?
    /// Whether requests without their own trust accept every certificate.
    let verifiesNobody: Bool
    /// The configuration's secret fields that are sent to image servers.
    let secretNames: [HTTPField.Name]

    init(_ configuration: DownloadConfiguration, number: Int) {
        self.number = number
        self.configuration = configuration
        usualRequest = TransportRequest(
            url: "", tls: configuration.tls, proxy: configuration.proxy, allowsHTTP2: configuration.allowsHTTP2,
            addressPolicy: configuration.addressPolicy, mayRepeat: configuration.retry.retries > 0,
            connectTimeout: configuration.deadlines.connect)
        var settings = ByteLog.Settings()
        settings.memoryLimit = configuration.memoryPerTransfer.bytes
        settings.directory = configuration.temporaryDirectory
        logSettings = settings
        bodyLimit = configuration.bodyLimit
        verifiesNobody = configuration.tls.trust == .anyone
        decryptor = configuration.decryptor
        secretNames = configuration.secretHeaders.filter { $0 != .proxyAuthorization }
            .sorted { $0.canonicalName < $1.canonicalName }
    }

    package func bodyLimit(of request: ResolvedRequest) -> ByteCount {
        request.request.changedOptions?.value.bodyLimit ?? bodyLimit
    }

    /// The fields of a request before modifiers.
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
