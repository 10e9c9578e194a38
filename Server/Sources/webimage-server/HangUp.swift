import Foundation

/// Handles SIGHUP. When a terminal is closed, the signal ends the server. A service has no terminal and ignores it:
/// whoever sends it wants the settings to be reloaded, which needs a restart.
enum HangUp {
    static func isIgnoredWithoutTerminal() {
        let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        if terminal >= 0 { close(terminal) } else { signal(SIGHUP, SIG_IGN) }
    }
}
