import ServerConfiguration
import Testing

@Suite struct TracingSettingsTests {
    private func tracing(_ variables: [String: String]) throws -> ServerSettings.Tracing? {
        try settings(variables).tracing
    }

    private func settings(_ variables: [String: String]) throws(SettingsError) -> ServerSettings {
        var all = ["WEBIMAGE_ALLOW_UNSIGNED": "1"]
        all.merge(variables) { $1 }
        return try ServerSettings(environment: all, readFile: { _ in nil }, now: { 0 })
    }

    @Test func tracingIsOffUnlessSettingsEnableIt() throws {
        #expect(try tracing([:]) == nil)
        let endpoint = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318/"]
        #expect(try tracing(endpoint)?.endpoint == "http://collector:4318/v1/traces")
        #expect(try tracing(endpoint.merging(["OTEL_SDK_DISABLED": "true"]) { $1 }) == nil)
        #expect(try tracing(endpoint.merging(["OTEL_TRACES_EXPORTER": "none"]) { $1 }) == nil)
        #expect(try tracing(endpoint.merging(["IMGPROXY_OPEN_TELEMETRY_ENABLE": "false"]) { $1 }) == nil)
        #expect(
            try tracing(["IMGPROXY_OPEN_TELEMETRY_ENABLE": "true"])?.endpoint == "http://localhost:4318/v1/traces")
        #expect(try tracing(["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://c/x"])?.endpoint == "https://c/x")
    }

    @Test func variablesChangeTheirSettings() throws {
        let tracing = try #require(
            try tracing([
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b, x=1",
                "OTEL_RESOURCE_ATTRIBUTES": "service.name=no,deployment.environment=test",
                "OTEL_SERVICE_NAME": "pictures",
                "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.1",
                "OTEL_BSP_SCHEDULE_DELAY": "100", "OTEL_BSP_MAX_QUEUE_SIZE": "10",
                "IMGPROXY_OPEN_TELEMETRY_PROPAGATE_EXTERNAL": "true",
            ]))
        #expect(tracing.headers == ["api-key": "a b", "x": "1"])
        #expect(tracing.resource == ["service.name": "pictures", "deployment.environment": "test"])
        #expect(tracing.ratio == 0.1 && tracing.followsParent && tracing.isPropagated)
        #expect(tracing.delay == .milliseconds(100) && tracing.queueSize == 10 && tracing.batchSize == 10)
    }

    @Test(arguments: [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), ("OTEL_TRACES_EXPORTER", "zipkin"), ("OTEL_TRACES_SAMPLER", "some"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "nothing"), ("OTEL_TRACES_SAMPLER_ARG", "2"),
        ("IMGPROXY_OPEN_TELEMETRY_ENABLE_METRICS", "true"), ("IMGPROXY_OPEN_TELEMETRY_TRACE_ID_GENERATOR", "xray"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector:4317"),
    ]) func anInvalidSettingIsNamedInTheError(_ name: String, _ value: String) {
        var variables = [
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_TRACES_SAMPLER": "traceidratio",
        ]
        variables[name] = value
        let error = #expect(throws: SettingsError.self) { try settings(variables) }
        #expect(
            error?.problems.count == 1 && error?.description.contains(name) == true,
            "\(error.map { "\($0)" } ?? "")")
    }

    @Test func protobufIsAWarning() throws {
        let read = try settings([
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        ])
        #expect(read.warnings.count == 1 && read.tracing != nil)
    }
}
