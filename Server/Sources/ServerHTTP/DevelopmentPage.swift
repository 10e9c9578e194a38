import ServerImages
import ServerGrammar
import HTTPTypes
import ServerConfiguration

/// The page at `/` for trying out the server: the user enters a URL and options, and sees the picture.
enum DevelopmentPage {
    static func answer(_ settings: ServerSettings) -> Answer {
        var answer = Answer.text(
            html.replacingPrefix(with: settings.grammar.pathPrefix), type: "text/html; charset=utf-8")
        answer.fields[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'"
        answer.fields[.cacheControl] = "no-store"
        return answer
    }

    private static let html = #"""
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>webimage-server</title>
        <link rel="icon" href="data:,">
        <style>
        body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #222; background: #fff }
        form { display: grid; grid-template-columns: 8rem 1fr; gap: .5rem 1rem; align-items: center }
        input, select { font: inherit; padding: .25rem .4rem; border: 1px solid #999; border-radius: 4px; min-width: 0 }
        input[type=range] { padding: 0 }
        output { font-variant-numeric: tabular-nums }
        .pair { display: flex; gap: .75rem; align-items: center }
        .pair > input[type=range] { flex: 1 }
        @media (max-width: 30rem) { form { grid-template-columns: minmax(0, 1fr); gap: .2rem } }
        #url { display: block; padding: .5rem; background: #f3f3f3; overflow-wrap: anywhere; border-radius: 4px }
        figure { margin: 1rem 0 } img { max-width: 100%; background: repeating-conic-gradient(#ddd 0 25%, #fff 0 50%) 0/16px 16px }
        #error { color: #a00 }
        </style>
        </head>
        <body>
        <h1>webimage-server</h1>
        <form id="form">
        <label for="source">Source</label><input id="source" type="url" placeholder="https://example.com/picture.jpg">
        <label for="width">Width</label><span class="pair"><input id="width" type="range" min="0" max="1600" value="400"><output id="w"></output></span>
        <label for="height">Height</label><span class="pair"><input id="height" type="range" min="0" max="1600" value="300"><output id="h"></output></span>
        <label for="type">Resizing</label><select id="type"><option>fit<option>fill<option>fill-down<option>force<option>auto</select>
        <label for="gravity">Gravity</label><select id="gravity"><option>ce<option>sm<option>no<option>so<option>ea<option>we<option>noea<option>nowe<option>soea<option>sowe</select>
        <label for="format">Format</label><select id="format"><option value="">chosen<option>jpeg<option>png<option>webp<option>avif<option>gif</select>
        <label for="quality">Quality</label><span class="pair"><input id="quality" type="range" min="0" max="100" value="0"><output id="q"></output></span>
        <label for="more">More options</label><input id="more" placeholder="blur:2/pd:10/bg:ff0000">
        </form>
        <p>URL <code id="url"></code> <button id="copy" type="button">Copy</button></p>
        <p id="facts"></p><p id="error" role="alert"></p>
        <figure><img id="image" alt=""></figure>
        <script>
        const prefix = "PREFIX", $ = id => document.getElementById(id)
        let last = 0
        function tell(facts, error, picture) {
            $("facts").textContent = facts
            $("error").textContent = error
            if ($("image").src) URL.revokeObjectURL($("image").src)
            if (picture) $("image").src = URL.createObjectURL(picture); else $("image").removeAttribute("src")
        }
        // Characters that cannot stand in a path are encoded before the path is signed.
        function options() {
            const more = $("more").value.trim().replace(/^\/+|\/+$/g, "")
            if (more.split("/").some(part => part === "." || part === "..")) throw new Error("An option cannot be . or ..")
            const parts = [`rs:${$("type").value}:${$("width").value}:${$("height").value}`, `g:${$("gravity").value}`]
            if ($("format").value) parts.push(`f:${$("format").value}`)
            if (+$("quality").value) parts.push(`q:${$("quality").value}`)
            if (more) parts.push(encodeURI(more).replace(/[?#]/g, encodeURIComponent))
            return parts.join("/")
        }
        // The browser's cache is bypassed, so that times and facts are those of the server.
        async function ask(url) {
            try { return await fetch(url, { cache: "no-store", signal: AbortSignal.timeout(60000) }) } catch (error) {
                throw new Error(error.name === "TimeoutError" ? "The server has not answered in a minute." : "The server cannot be reached.")
            }
        }
        async function show() {
            const number = ++last, source = $("source").value.trim()
            $("w").value = $("width").value; $("h").value = $("height").value; $("q").value = $("quality").value
            let url = ""
            $("copy").disabled = true
            if (!source) {
                $("url").textContent = ""
                document.body.dataset.state = "empty"
                return tell("", "")
            }
            try {
                const signing = await ask(prefix + "/sign?path=" + encodeURIComponent(`/${options()}/plain/${encodeURIComponent(source)}`))
                const signed = await signing.text()
                if (number !== last) return
                if (!signing.ok) throw new Error(`${signing.status} ${signed}`)
                url = $("url").textContent = location.origin + signed
                $("copy").disabled = false
                const begin = performance.now(), answer = await ask(signed), body = await answer.blob()
                const time = Math.round(performance.now() - begin)
                if (number !== last) return
                if (!answer.ok) throw new Error(`${answer.status} ${await body.text()}`)
                const stages = (answer.headers.get("Server-Timing") || "").split(", ").filter(Boolean)
                    .map(stage => stage.replace(";dur=", " ") + " ms").join(", ")
                tell(`${body.type}, ${body.size} bytes, ${time} ms${stages ? ` (${stages})` : ""}, ${answer.headers.get("Cache-Status") || ""}`, "", body)
                document.body.dataset.state = "shown"
            } catch (error) {
                if (number !== last) return
                $("url").textContent = url
                tell("", error.message)
                document.body.dataset.state = "failed"
            }
        }
        let timer
        $("form").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(show, 150) })
        $("form").addEventListener("submit", event => event.preventDefault())
        $("copy").addEventListener("click", () => navigator.clipboard.writeText($("url").textContent))
        const wanted = new URLSearchParams(location.search).get("source")
        if (wanted) $("source").value = wanted
        show()
        </script>
        </body>
        </html>
        """#
}

extension String {
    fileprivate func replacingPrefix(with prefix: String) -> String {
        let parts = split(separator: "\"PREFIX\"", maxSplits: 1)
        guard parts.count == 2 else { return self }
        return parts[0] + JSONValue.quoted(prefix) + parts[1]
    }
}
