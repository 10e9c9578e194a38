import ArgumentParser
import Foundation
import ServerConfiguration
import ServerGrammar
import WebImage
import WebImageTesting

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serves sample pictures and a demo page, on this machine only.")

    @Option(help: "The port of the server.")
    var port = 8080
    @OptionGroup var file: SettingsArguments

    func run() async throws {
        let origin = try OriginServer()
        let pictures = SamplePictures.demo
        for picture in pictures {
            let body = try picture.encoded()
            origin.serve("/" + picture.fileName, OriginResponse(headers: [("Cache-Control", "max-age=60")], body: body))
        }
        let settings = try file.settings([
            "IMGPROXY_BIND": "127.0.0.1:\(port)", "WEBIMAGE_DEVELOPMENT": "true",
            "IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES": "true", "WEBIMAGE_DRAIN_DELAY": "0",
            "IMGPROXY_LOG_FORMAT": "pretty",
            "IMGPROXY_LOG_LEVEL": "warn", "IMGPROXY_TTL": "60",
            "IMGPROXY_KEY": "943b421c9eb07c830af81030552c86009268de4e532ba2ee2eab8247c6da0881",
            "IMGPROXY_SALT": "520f986b998545b4785e0defbc4f3c1203f22de2374a3d53cb7a7fe9fea309c5",
        ])
        let source = origin.url("/" + (pictures.first?.fileName ?? ""))
        let path = settings.grammar.signed("/rs:fill:400:300/plain/\(source)")
        try await Serve.serve(settings) { port in
            print("a picture:  http://127.0.0.1:\(port)\(path)")
            print("the page:   http://127.0.0.1:\(port)/?source=\(source)")
            print("Press Ctrl-C to stop.")
            // Shows the text at once, even if the output is a file.
            fflush(nil)
        }
        origin.stop()
    }
}
