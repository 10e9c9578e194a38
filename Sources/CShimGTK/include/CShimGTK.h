#pragma once
#include <stddef.h>
#include <stdint.h>

/* GTK 4's classes are made with macros and structs that Swift cannot use. Here are a paintable and a widget whose
   functions are callbacks, and the few functions that take variadic arguments or untyped functions. Objects are pointers
   to their GObject. All functions must be called on the thread that runs GTK. Where GTK is not installed nothing of this is
   compiled: SwiftPM builds a shim also when the trait that needs it is off. */

// --- Objects

/// Ties an object to one of Swift, whose reference to it this is. Takes over the floating reference of a new object.
///
/// As long as something besides the tie holds the object, it holds `context` once: `hold` was called, and `release` was
/// not yet. So each keeps the other for as long as anybody wants one of them.
void wi_tie(
    void *_Nonnull object, void *_Nonnull context, void (*_Nonnull hold)(void *_Nonnull context),
    void (*_Nonnull release)(void *_Nonnull context));

/// Ends a tie, from the end of the life of `context`; nothing else may hold the object.
void wi_untie(void *_Nonnull object);

/// Takes a reference, or the floating one.
void wi_reference(void *_Nonnull object);
void wi_unreference(void *_Nonnull object);

// --- Pictures

typedef struct {
    /// Draws into a GtkSnapshot.
    void (*_Nonnull snapshot)(void *_Nonnull context, void *_Nonnull snapshot, double width, double height);
    /// 0 stands for no size.
    int (*_Nonnull width)(void *_Nonnull context);
    int (*_Nonnull height)(void *_Nonnull context);
    /// Width divided by height; 0 for none.
    double (*_Nonnull aspect)(void *_Nonnull context);
} wi_paintable_callbacks;

/// A GdkPaintable, owned by the caller. `context` must live until the object is gone, or until wi_paintable_detach.
void *_Nonnull wi_paintable_new(wi_paintable_callbacks callbacks, void *_Nonnull context);

/// Makes no more calls with the context.
void wi_paintable_detach(void *_Nonnull paintable);

// --- The widget

typedef struct {
    /// The widget was laid out with a size, in logical pixels, and a scale factor. A side may be 0.
    void (*_Nonnull resize)(void *_Nonnull context, int width, int height, int scale);
    /// 1: the widget is among what is drawn (mapped); 0: not any more.
    void (*_Nonnull visibility)(void *_Nonnull context, int is_mapped);
    /// Draws into a GtkSnapshot.
    void (*_Nonnull snapshot)(void *_Nonnull context, void *_Nonnull snapshot, double width, double height);
    /// What it wants of a side, when the other one is `for_size`, or -1 for any.
    void (*_Nonnull measure)(
        void *_Nonnull context, int is_vertical, int for_size, int *_Nonnull minimum, int *_Nonnull natural);
    /// Called before each frame after wi_box_start_ticks, with the frame's time in microseconds.
    void (*_Nonnull tick)(void *_Nonnull context, int64_t time);
} wi_box_callbacks;

/// A widget without children that clips what it draws. The reference is floating. `context` must live until the widget is
/// gone, or until wi_box_detach.
void *_Nonnull wi_box_new(wi_box_callbacks callbacks, void *_Nonnull context);

/// Makes no more calls with the context.
void wi_box_detach(void *_Nonnull box);

/// Does nothing when they run, or have ended, already.
void wi_box_start_ticks(void *_Nonnull box);
void wi_box_stop_ticks(void *_Nonnull box);

/// Whether the height follows from the width.
void wi_box_set_height_for_width(void *_Nonnull box, int is_so);

/// Whether the user wants animations (gtk-enable-animations).
int wi_animations_are_enabled(void);

/// What a screen reader says of a widget; NULL for nothing.
void wi_set_label(void *_Nonnull widget, const char *_Nullable text);

/// For tests: what is wrong with the label that a screen reader finds; NULL when it is `text`. To be freed with g_free.
char *_Nullable wi_check_label(void *_Nonnull widget, const char *_Nonnull text);

// --- Signals

/// Works for signals with any arguments, of which it gets none.
typedef void (*wi_plain_handler)(void *_Nonnull context);
typedef void (*wi_object_handler)(void *_Nonnull object, void *_Nullable other, void *_Nonnull context);
typedef void (*wi_position_handler)(void *_Nonnull object, unsigned position, void *_Nonnull context);
typedef int (*wi_question_handler)(void *_Nonnull object, void *_Nonnull context);
typedef void (*wi_press_handler)(void *_Nonnull object, int count, double x, double y, void *_Nonnull context);
typedef int (*wi_key_handler)(
    void *_Nonnull object, unsigned key, unsigned code, unsigned modifiers, void *_Nonnull context);

typedef int (*wi_scroll_handler)(void *_Nonnull object, double x, double y, void *_Nonnull context);

/// Connects a handler to a signal; `release` is called when it is disconnected or the object goes.
/// Returns the handler's number; 0 when the object has no such signal, or one whose handlers are of another kind.
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

/// Whether a GtkEventControllerScroll tells of pixels, as touchpads have it do, and not of steps of a wheel.
int wi_scroll_is_in_pixels(void *_Nonnull controller);

// --- The main loop

/// Has GLib's default main loop call `serve_queue` whenever the descriptor can be read; -1: never. The first call counts.
void wi_pump_install(int descriptor, void (*_Nonnull serve_queue)(void));

/// How often the main loop has found something on the main queue.
uint64_t wi_pump_count(void);

/// A source of the default main loop that calls `wake` at times that wi_alarm_set tells; owned by the caller.
void *_Nonnull wi_alarm_new(void (*_Nonnull wake)(void *_Nonnull context), void *_Nonnull context);

/// - time: of g_get_monotonic_time, in microseconds; -1 for never.
void wi_alarm_set(void *_Nonnull alarm, int64_t time);

/// Ends it and gives it back.
void wi_alarm_destroy(void *_Nonnull alarm);

// --- Pictures of widgets

/// What a widget shows, as a GdkTexture in device pixels that the caller owns; NULL when it is not drawn, or was not yet.
void *_Nullable wi_screenshot(void *_Nonnull widget);
