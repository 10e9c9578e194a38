#pragma once
#include <stddef.h>
#include <stdint.h>

/* GTK 4's classes are made with macros and structs that Swift cannot use. This shim has a paintable and a widget that call
 * functions of Swift, and wraps the few functions that take variadic arguments or untyped functions. Objects are pointers to
 * their GObject. All functions must be called on the thread that runs GTK. Where GTK is not installed nothing of this is
 * compiled: SwiftPM builds a shim even if the trait that needs it is off. */

// --- Objects

/// Ties an object of GTK to `context`, an object of Swift that owns this reference. Takes over the floating reference of a new
/// object.
///
/// While anything besides the tie references the object, the object holds `context` once: `hold` was called, and `release` was not
/// called yet. Therefore both live as long as either is used.
void wi_tie(
    void *_Nonnull object, void *_Nonnull context, void (*_Nonnull hold)(void *_Nonnull context),
    void (*_Nonnull release)(void *_Nonnull context));

/// Ends a tie, in the deinitializer of `context`. Nothing else may reference the object.
void wi_untie(void *_Nonnull object);

/// Takes a new reference, or the floating one.
void wi_reference(void *_Nonnull object);
void wi_unreference(void *_Nonnull object);

// --- Pictures

typedef struct {
    /// Draws into a GtkSnapshot.
    void (*_Nonnull snapshot)(void *_Nonnull context, void *_Nonnull snapshot, double width, double height);
    /// The intrinsic size; 0 means none.
    int (*_Nonnull width)(void *_Nonnull context);
    int (*_Nonnull height)(void *_Nonnull context);
    /// Width divided by height; 0 means none.
    double (*_Nonnull aspect)(void *_Nonnull context);
} wi_paintable_callbacks;

/// Makes a GdkPaintable, owned by the caller. `context` must live until the object is freed, or until wi_paintable_detach.
void *_Nonnull wi_paintable_new(wi_paintable_callbacks callbacks, void *_Nonnull context);

/// Detaches the context: its callbacks are not called again.
void wi_paintable_detach(void *_Nonnull paintable);

// --- The widget

typedef struct {
    /// Called when the widget was laid out, with its size in logical pixels and its scale factor. A side may be 0.
    void (*_Nonnull resize)(void *_Nonnull context, int width, int height, int scale);
    /// Called with 1 when the widget is mapped, which means that it is drawn, and with 0 when it is unmapped.
    void (*_Nonnull visibility)(void *_Nonnull context, int is_mapped);
    /// Draws into a GtkSnapshot.
    void (*_Nonnull snapshot)(void *_Nonnull context, void *_Nonnull snapshot, double width, double height);
    /// Returns the minimum and the natural length of a side if the other one is `for_size`; -1 means any.
    void (*_Nonnull measure)(
        void *_Nonnull context, int is_vertical, int for_size, int *_Nonnull minimum, int *_Nonnull natural);
    /// Called before each frame after wi_box_start_ticks, with the frame's time in microseconds.
    void (*_Nonnull tick)(void *_Nonnull context, int64_t time);
} wi_box_callbacks;

/// Makes a widget without children that clips what it draws. The reference is floating. `context` must live until the widget is
/// freed, or until wi_box_detach.
void *_Nonnull wi_box_new(wi_box_callbacks callbacks, void *_Nonnull context);

/// Detaches the context: its callbacks are not called again.
void wi_box_detach(void *_Nonnull box);

/// Starts or stops the calls of `tick`. Does nothing if they are started or stopped already.
void wi_box_start_ticks(void *_Nonnull box);
void wi_box_stop_ticks(void *_Nonnull box);

/// Whether the height follows from the width.
void wi_box_set_height_for_width(void *_Nonnull box, int is_so);

/// Whether the user wants animations (gtk-enable-animations).
int wi_animations_are_enabled(void);

/// Sets the text that a screen reader reads for a widget; NULL for none.
void wi_set_label(void *_Nonnull widget, const char *_Nullable text);

/// For tests: returns NULL if the label that a screen reader gets is `text`, otherwise a description of the difference, to be
/// freed with g_free.
char *_Nullable wi_check_label(void *_Nonnull widget, const char *_Nonnull text);

// --- Signals

/// A handler for signals with any arguments. It does not get the arguments.
typedef void (*wi_plain_handler)(void *_Nonnull context);
typedef void (*wi_object_handler)(void *_Nonnull object, void *_Nullable other, void *_Nonnull context);
typedef void (*wi_position_handler)(void *_Nonnull object, unsigned position, void *_Nonnull context);
typedef int (*wi_question_handler)(void *_Nonnull object, void *_Nonnull context);
typedef void (*wi_press_handler)(void *_Nonnull object, int count, double x, double y, void *_Nonnull context);
typedef int (*wi_key_handler)(
    void *_Nonnull object, unsigned key, unsigned code, unsigned modifiers, void *_Nonnull context);

typedef int (*wi_scroll_handler)(void *_Nonnull object, double x, double y, void *_Nonnull context);

/// Connects a handler to a signal. `release` is called when the handler is disconnected or the object is freed. Returns the
/// handler's number; 0 if the object has no such signal, or its handlers are of another kind.
unsigned long wi_connect_plain(
    void *_Nonnull object, const char *_Nonnull signal, wi_plain_handler _Nonnull handler, void *_Nonnull context,
    void (*_Nonnull release)(void *_Nonnull context));
unsigned long wi_connect_object(
    void *_Nonnull object, const char *_Nonnull signal, wi_object_handler _Nonnull handler, void *_Nonnull context,
    void (*_Nonnull release)(void *_Nonnull context));
unsigned long wi_connect_position(
    void *_Nonnull object, const char *_Nonnull signal, wi_position_handler _Nonnull handler, void *_Nonnull context,
    void (*_Nonnull release)(void *_Nonnull context));
unsigned long wi_connect_question(
    void *_Nonnull object, const char *_Nonnull signal, wi_question_handler _Nonnull handler, void *_Nonnull context,
    void (*_Nonnull release)(void *_Nonnull context));
unsigned long wi_connect_press(
    void *_Nonnull object, const char *_Nonnull signal, wi_press_handler _Nonnull handler, void *_Nonnull context,
    void (*_Nonnull release)(void *_Nonnull context));
unsigned long wi_connect_key(
    void *_Nonnull object, const char *_Nonnull signal, wi_key_handler _Nonnull handler, void *_Nonnull context,
    void (*_Nonnull release)(void *_Nonnull context));

unsigned long wi_connect_scroll(
    void *_Nonnull object, const char *_Nonnull signal, wi_scroll_handler _Nonnull handler, void *_Nonnull context,
    void (*_Nonnull release)(void *_Nonnull context));

/// Whether a GtkEventControllerScroll reports pixels, as for touchpads, and not steps of a wheel.
int wi_scroll_is_in_pixels(void *_Nonnull controller);

// --- The main loop

/// Makes GLib's default main loop call `serve_queue` whenever the descriptor is readable; -1 means never. Only the first call has
/// an effect.
void wi_pump_install(int descriptor, void (*_Nonnull serve_queue)(void));

/// The number of times that the main loop has found work on the main queue.
uint64_t wi_pump_count(void);

/// Makes a source of the default main loop that calls `wake` at the times that wi_alarm_set sets; owned by the caller.
void *_Nonnull wi_alarm_new(void (*_Nonnull wake)(void *_Nonnull context), void *_Nonnull context);

/// - time: in microseconds of g_get_monotonic_time; -1 for never.
void wi_alarm_set(void *_Nonnull alarm, int64_t time);

/// Ends the alarm and frees it.
void wi_alarm_destroy(void *_Nonnull alarm);

// --- Pictures of widgets

/// What a widget shows, as a GdkTexture in device pixels that the caller owns; NULL if the widget is not visible, or was not drawn
/// yet.
void *_Nullable wi_screenshot(void *_Nonnull widget);
