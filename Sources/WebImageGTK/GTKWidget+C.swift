#if GTK
    internal import CSysGTK

    extension GTKWidget {
        /// The pointer in the type that GTK's C functions take.
        var cWidget: UnsafeMutablePointer<GtkWidget> { pointer.assumingMemoryBound(to: GtkWidget.self) }

        /// Takes over a widget that GTK has just made.
        convenience init(made widget: UnsafeMutablePointer<GtkWidget>?) { self.init(Self.made(widget)) }

        /// The pointer to a widget that GTK has just made.
        static func made(_ widget: UnsafeMutablePointer<GtkWidget>?) -> UnsafeMutableRawPointer {
            guard let widget else { preconditionFailure("GTK makes no widgets before gtk_init") }
            return UnsafeMutableRawPointer(widget)
        }
    }

    /// Objects of Swift that an object of GTK retains as long as it lives.
    @MainActor enum AttachedObjects {
        static func attach(_ object: AnyObject, to owner: UnsafeMutableRawPointer, as name: String) {
            g_object_set_data_full(
                owner.assumingMemoryBound(to: GObject.self), name, Unmanaged.passRetained(object).toOpaque()
            ) { object in
                // The argument is the object that was passed above.
                if let object { Unmanaged<AnyObject>.fromOpaque(object).release() }
            }
        }

        static func find<Object: AnyObject>(
            _ type: Object.Type, of owner: UnsafeMutableRawPointer, as name: String
        ) -> Object? {
            g_object_get_data(owner.assumingMemoryBound(to: GObject.self), name).map {
                Unmanaged<Object>.fromOpaque($0).takeUnretainedValue()
            }
        }
    }
#endif
