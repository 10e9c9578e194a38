#if GTK
    import CSysGTK
    import WebImageGTK

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #else
        import Darwin
    #endif

    // Runs one script on a display and prints its findings as lines of `name value`. Tests run it as a separate
    // process, because GTK needs the main thread and reads its settings from the environment.

    // Ends a probe that hangs after 60 seconds. The signal is unblocked first, because the tests' threads block it and
    // the probe inherits that.
    var blocked = sigset_t()
    sigemptyset(&blocked)
    sigprocmask(SIG_SETMASK, &blocked, nil)
    _ = alarm(60)
    guard CommandLine.arguments.count == 2, let script = Script(rawValue: CommandLine.arguments[1]) else {
        fatalError("usage: gtk-probe \(Script.allCases.map(\.rawValue).joined(separator: "|"))")
    }
    guard gtk_init_check() != 0 else {
        print("display none")
        exit(2)
    }
    GTKMainLoop.install()
    let loop = g_main_loop_new(nil, 0)
    Task {
        await script.run()
        print("end of \(script.rawValue)")
        g_main_loop_quit(loop)
    }
    g_main_loop_run(loop)
#else
    print("this program was built without GTK")
#endif
