#if GTK
    internal import CShimGTK
    internal import CSysGTK

    /// A connection of a closure to a signal of a GTK object.
    ///
    /// There is a function for each kind of handler that is used here; GTK's documentation lists the arguments of a
    /// signal's handlers. The closure is released when it is disconnected, and when the object is destroyed. A closure
    /// that captures an owner of the object keeps both alive for ever: it should capture weakly.
    ///
    /// A connection need not be kept: it is only needed to disconnect.
    @MainActor public final class SignalConnection {
        private var object: UnsafeMutableRawPointer?
        private var handler: UInt = 0

        private init(_ object: UnsafeMutableRawPointer) { self.object = object }

        /// False once the handler was disconnected, or the object was destroyed.
        public var isConnected: Bool { object != nil }

        /// Disconnects the handler, which is not called again.
        public func disconnect() {
            guard let object else { return }
            self.object = nil
            g_signal_handler_disconnect(object, handler)
        }

        /// Connects a handler that needs no arguments: `map`, `clicked`, `value-changed`, `activate` of applications.
        ///
        /// - Parameters:
        ///   - object: a `GObject *`.
        ///   - signal: the name of the signal, with a detail (`notify::active`) if needed.
        ///   - body: the closure to call.
        /// - Returns: nil if the object has no such signal, or its handlers are of another kind.
        @discardableResult public static func connect(
            _ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping @MainActor () -> Void
        ) -> SignalConnection? {
            connect(object, body) { context in
                let handler: wi_plain_handler = { context in
                    onMainActor(context, ()) { (signal: SignalBody<@MainActor () -> Void>, _) in signal.body() }
                }
                return wi_connect_plain(object, signal, handler, context, release)
            }
        }

        /// Connects a handler with a pointer as its argument: `setup`, `bind` and `unbind` of list item factories,
        /// `notify`.
        ///
        /// - Parameters:
        ///   - object: a `GObject *`.
        ///   - signal: the name of the signal.
        ///   - body: the closure to call, with the argument.
        /// - Returns: nil if the object has no such signal, or its handlers are of another kind.
        @discardableResult public static func connectObject(
            _ object: UnsafeMutableRawPointer, _ signal: String,
            _ body: @escaping @MainActor (OpaquePointer?) -> Void
        ) -> SignalConnection? {
            connect(object, body) { context in
                let handler: wi_object_handler = { _, other, context in
                    onMainActor(context, other) {
                        (signal: SignalBody<@MainActor (OpaquePointer?) -> Void>, other) in
                        signal.body(other.map { OpaquePointer($0) })
                    }
                }
                return wi_connect_object(object, signal, handler, context, release)
            }
        }

        /// Connects a handler with a position as its argument: `activate` of grids and lists.
        ///
        /// - Parameters:
        ///   - object: a `GObject *`.
        ///   - signal: the name of the signal.
        ///   - body: the closure to call, with the position.
        /// - Returns: nil if the object has no such signal, or its handlers are of another kind.
        @discardableResult public static func connectPosition(
            _ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping @MainActor (Int) -> Void
        ) -> SignalConnection? {
            connect(object, body) { context in
                let handler: wi_position_handler = { _, position, context in
                    onMainActor(context, Int(position)) { (signal: SignalBody<@MainActor (Int) -> Void>, position) in
                        signal.body(position)
                    }
                }
                return wi_connect_position(object, signal, handler, context, release)
            }
        }

        /// Connects a handler without arguments that returns whether it has handled the signal: `close-request`.
        ///
        /// - Parameters:
        ///   - object: a `GObject *`.
        ///   - signal: the name of the signal.
        ///   - body: the closure to call; true prevents GTK's default action.
        /// - Returns: nil if the object has no such signal, or its handlers are of another kind.
        @discardableResult public static func connectQuestion(
            _ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping @MainActor () -> Bool
        ) -> SignalConnection? {
            connect(object, body) { context in
                let handler: wi_question_handler = { _, context in
                    onMainActor(context, ()) { (signal: SignalBody<@MainActor () -> Bool>, _) in
                        signal.body() ? 1 : 0
                    }
                }
                return wi_connect_question(object, signal, handler, context, release)
            }
        }

        /// Connects a handler for `pressed` and `released` of click gestures.
        ///
        /// - Parameters:
        ///   - object: a `GtkGestureClick *`.
        ///   - signal: the name of the signal.
        ///   - body: the closure, which gets the number of clicks, and their position in the widget's logical pixels.
        /// - Returns: nil if the object has no such signal, or its handlers are of another kind.
        @discardableResult public static func connectPress(
            _ object: UnsafeMutableRawPointer, _ signal: String,
            _ body: @escaping @MainActor (_ count: Int, _ x: Double, _ y: Double) -> Void
        ) -> SignalConnection? {
            connect(object, body) { context in
                let handler: wi_press_handler = { _, count, x, y, context in
                    onMainActor(context, ()) {
                        (signal: SignalBody<@MainActor (Int, Double, Double) -> Void>, _) in
                        signal.body(Int(count), x, y)
                    }
                }
                return wi_connect_press(object, signal, handler, context, release)
            }
        }

        /// Connects a handler for `key-pressed` of key controllers.
        ///
        /// - Parameters:
        ///   - object: a `GtkEventControllerKey *`.
        ///   - signal: the name of the signal.
        ///   - body: the closure to call, with the key's value (`GDK_KEY_…`) and the bits of a `GdkModifierType`; true
        ///     stops the key from reaching other handlers.
        /// - Returns: nil if the object has no such signal, or its handlers are of another kind.
        @discardableResult public static func connectKey(
            _ object: UnsafeMutableRawPointer, _ signal: String,
            _ body: @escaping @MainActor (_ key: UInt32, _ modifiers: UInt32) -> Bool
        ) -> SignalConnection? {
            connect(object, body) { context in
                let handler: wi_key_handler = { _, key, _, modifiers, context in
                    onMainActor(context, ()) { (signal: SignalBody<@MainActor (UInt32, UInt32) -> Bool>, _) in
                        signal.body(key, modifiers) ? 1 : 0
                    }
                }
                return wi_connect_key(object, signal, handler, context, release)
            }
        }

        /// Connects a handler for `scroll` of scroll controllers.
        ///
        /// - Parameters:
        ///   - object: a `GtkEventControllerScroll *`.
        ///   - signal: the name of the signal.
        ///   - body: the closure to call, with the distance by which the wheel was turned or the fingers moved; true
        ///     stops the event from reaching other handlers.
        /// - Returns: nil if the object has no such signal, or its handlers are of another kind.
        @discardableResult public static func connectScroll(
            _ object: UnsafeMutableRawPointer, _ signal: String,
            _ body: @escaping @MainActor (_ x: Double, _ y: Double) -> Bool
        ) -> SignalConnection? {
            connect(object, body) { context in
                let handler: wi_scroll_handler = { _, x, y, context in
                    onMainActor(context, ()) { (signal: SignalBody<@MainActor (Double, Double) -> Bool>, _) in
                        signal.body(x, y) ? 1 : 0
                    }
                }
                return wi_connect_scroll(object, signal, handler, context, release)
            }
        }

        private static func connect<Body>(
            _ object: UnsafeMutableRawPointer, _ body: Body, _ join: (UnsafeMutableRawPointer) -> UInt
        ) -> SignalConnection? {
            let connection = SignalConnection(object)
            let context = Unmanaged.passRetained(SignalBody(body, connection) as SignalContext)
            connection.handler = join(context.toOpaque())
            guard connection.handler != 0 else {
                context.release()
                return nil
            }
            return connection
        }

        private static let release: @convention(c) (UnsafeMutableRawPointer) -> Void = { context in
            onMainActor(context, ()) { (signal: SignalContext, _) in signal.connection.object = nil }
            Unmanaged<SignalContext>.fromOpaque(context).release()
        }
    }

    /// The data of a connection, which GTK retains.
    @MainActor private class SignalContext {
        let connection: SignalConnection

        init(_ connection: SignalConnection) { self.connection = connection }
    }

    @MainActor private final class SignalBody<Body>: SignalContext {
        let body: Body

        init(_ body: Body, _ connection: SignalConnection) {
            self.body = body
            super.init(connection)
        }
    }
#endif
