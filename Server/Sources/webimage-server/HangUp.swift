import Foundation

/// SIGHUP comes when a terminal is closed, and then ends the server. A service has no terminal: those who send it SIGHUP
/// want it to read its settings anew, which needs a restart.
enum HangUp {
    static func isIgnoredWithoutTerminal() {
        let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        if terminal >= 0 { close(terminal) } else { signal(SIGHUP, SIG_IGN) }
    }
}
