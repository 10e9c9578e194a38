/// The page of the demo of a fleet.
enum FleetPage {
    /// - Parameter paths: signed paths of pictures.
    static func html(_ paths: [String]) -> String {
        // The paths are the demo's own and contain no quotation marks.
        let list = paths.map { "\"\($0)\"" }.joined(separator: ",")
        return """
            <!doctype html>
            <meta charset="utf-8">
            <title>A fleet of image servers</title>
            <style>
            body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #222 }
            table { border-collapse: collapse; margin: 1rem 0 }
            th, td { padding: .3rem .9rem; text-align: right; border-bottom: 1px solid #ddd }
            th:first-child, td:first-child { text-align: left }
            button { font: inherit; padding: .3rem .8rem; margin: 0 .3rem .3rem 0 }
            #pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: .6rem }
            figure { margin: 0; border-top: 6px solid #bbb; background: #f5f5f5; font-size: 13px }
            figure img { width: 100%; height: 7rem; object-fit: cover; display: block }
            figcaption { padding: .2rem .4rem }
            .one { border-color: #2a7ae2 } .two { border-color: #2aa35b } .three { border-color: #d9822b }
            .gone td { color: #aaa }
            </style>
            <h1>A fleet of image servers</h1>
            <p>HAProxy sends every size of a picture to the same server. What one server made, the others take from Redis. A purge on
            one holds on all.</p>
            <p>
            <button onclick="ask(24)">24 pictures</button>
            <button onclick="ask(200)">200 pictures</button>
            <button onclick="purge()">Purge all</button>
            <span id="said"></span>
            </p>
            <table><thead><tr><th>Server<th>requests<th>from memory<th>made for all<th>taken over<th>taken from others<th>made alone<th>purges
            <th></tr></thead><tbody id="servers"></tbody></table>
            <p>The origin was asked <b id="origin">0</b> times.</p>
            <div id="pictures"></div>
            <script>
            const paths = [\(list)], names = ["one", "two", "three"]
            const say = text => document.getElementById("said").textContent = text
            async function ask(count) {
              const box = document.getElementById("pictures")
              box.replaceChildren()
              const servers = {}
              const begin = performance.now()
              await Promise.all([...Array(count)].map(async () => {
                const path = paths[Math.floor(Math.random() * paths.length)]
                const answer = await fetch(path, { cache: "no-store" })
                const server = answer.headers.get("X-Served-By") || "none"
                servers[server] = (servers[server] || 0) + 1
                const figure = document.createElement("figure"), image = document.createElement("img")
                figure.className = server
                image.src = URL.createObjectURL(await answer.blob())
                image.alt = path
                const caption = document.createElement("figcaption")
                const status = answer.headers.get("Cache-Status") || answer.status
                caption.textContent = server + ": " + String(status).replace("webimage; ", "")
                figure.append(image, caption)
                box.append(figure)
              }))
              const shares = Object.entries(servers).map(([name, number]) => name + " " + number).join(", ")
              say(count + " pictures in " + Math.round(performance.now() - begin) + " ms: " + shares)
            }
            async function purge() {
              const answer = await fetch("/fleet/1/purge", { method: "POST", body: '{"all": true}' })
              say("Purged: " + await answer.text())
            }
            const act = (number, what) => fetch("/fleet/" + number + "/" + what)
            async function look() {
              document.getElementById("origin").textContent = await (await fetch("/fleet/origin")).text()
              const rows = await Promise.all(names.map(async (name, index) => {
                const number = index + 1, row = document.createElement("tr")
                let text = ""
                try {
                  const answer = await fetch("/fleet/" + number + "/metrics")
                  if (answer.ok) text = await answer.text()
                } catch {}
                const value = key => {
                  const line = text.split("\\n").find(line => line.startsWith(key + " "))
                  return line ? line.slice(key.length + 1) : "0"
                }
                const lock = result => value('webimage_fleet_locks_total{result="' + result + '"}')
                const cells = text ? [name, value("requests_total"), value('webimage_cache_requests_total{result="memory"}'),
                  lock("led"), lock("took_over"), lock("waited"), lock("skipped"), value("webimage_purges_total")]
                  : [name, "is gone", "", "", "", "", "", ""]
                row.className = text ? "" : "gone"
                for (const cell of cells) row.insertCell().textContent = cell
                const button = document.createElement("button")
                button.textContent = text ? "Stop" : "Start"
                button.onclick = () => act(number, text ? "stop" : "start")
                row.insertCell().append(button)
                return row
              }))
              document.getElementById("servers").replaceChildren(...rows)
            }
            look()
            setInterval(look, 1000)
            ask(24)
            </script>
            """
    }
}
