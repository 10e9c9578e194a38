#if GTK
    /// The scripts of the probe, by the names under which tests run them.
    @MainActor enum Script: String, CaseIterable {
        case textures, orientations, fits, fades, widgetFades, lives, signals, pump, sizes, visibility, clock, label,
            frames, files, loads, retries, ends, plays, widgets, cells, reloads, prefetches, sizeless, widgetSizes,
            growing, reused, unseen,
            shifts, keptPlayer, minimised, room, sizelessFailure, buttonLabel, hooks, blur, noAnimations

        func run() async {
            switch self {
            case .textures: await Pictures.textures()
            case .orientations: await Pictures.orientations()
            case .fits: await Pictures.fits()
            case .fades: await Fades.byHand()
            case .widgetFades: await Fades.byWidget()
            case .lives: await Lives.run()
            case .signals: Lives.signals()
            case .pump: await Loops.pump()
            case .clock: await Loops.clock()
            case .sizes: await Boxes.sizes()
            case .visibility: await Boxes.visibility()
            case .minimised: do { try await Boxes.minimised() } catch { print("failed \(error)") }
            case .label: Boxes.label()
            case .frames: await Boxes.frames()
            case .files: await Boxes.files()
            case .loads: await Views.loads()
            case .retries: await Views.retries()
            case .ends: await Views.ends()
            case .plays: await Views.plays()
            case .widgets: await Views.widgets()
            case .cells: await Views.cells()
            case .reloads: await Lists.reloads()
            case .prefetches: await Lists.prefetches()
            case .shifts: await Lists.shifts()
            case .keptPlayer: await Views.keptPlayer()
            case .sizeless: await Layouts.sizeless()
            case .widgetSizes: await Layouts.widgetSizes()
            case .growing: await Layouts.growing()
            case .reused: await Layouts.reused()
            case .unseen: await Views.unseen()
            case .room: await Parts.room()
            case .sizelessFailure: await Parts.sizelessFailure()
            case .buttonLabel: await Parts.buttonLabel()
            case .hooks: await Parts.hooks()
            case .blur: await Parts.blur()
            case .noAnimations: await Parts.noAnimations()
            }
        }
    }
#endif
