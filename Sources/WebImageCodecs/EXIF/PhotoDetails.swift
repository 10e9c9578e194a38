/// A camera's EXIF data about a photograph: when, how and where it was taken (EXIF 2.32, sections 4.6.5 and 4.6.6).
///
/// Files often lack data or contain wrong data: every property may be nil, and none is checked against another one.
public struct PhotoDetails: Hashable, Sendable {
    /// When the picture was taken (`DateTimeOriginal`); if that is missing, when it was digitised, otherwise when the
    /// file was changed.
    public var date: PhotoDate?
    /// The maker of the camera: `"NIKON CORPORATION"`.
    public var cameraMaker: String?
    /// The model of the camera: `"NIKON D750"`.
    public var cameraModel: String?
    public var lensModel: String?
    /// How long the shutter was open, in seconds.
    public var exposureTime: Double?
    /// The aperture: 2.8 for f/2.8.
    public var fNumber: Double?
    /// The sensitivity by ISO 12232.
    public var isoSpeed: Int?
    /// The focal length in millimetres.
    public var focalLength: Double?
    /// Where the camera was.
    public var place: PhotoPlace?
    /// The author's description of the picture.
    public var caption: String?
    public var artist: String?
    public var copyright: String?
    /// The program that wrote the file.
    public var software: String?

    public init() {}
}

/// A date and time from a camera's clock.
public struct PhotoDate: Hashable, Sendable {
    public var year: Int
    /// 1 to 12.
    public var month: Int
    /// 1 to 31.
    public var day: Int
    public var hour: Int
    public var minute: Int
    public var second: Int
    /// How many minutes the clock was ahead of UTC; nil if the file does not say, as most do not.
    public var minutesFromUTC: Int?

    /// - Returns: nil if the values are not a date.
    public init?(
        year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0, minutesFromUTC: Int? = nil
    ) {
        guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
        self.minutesFromUTC = minutesFromUTC
    }
}

extension PhotoDate: CustomStringConvertible {
    /// The date in ISO 8601: `"2024-05-17T09:30:00+02:00"`, without the offset if the time zone is not known.
    public var description: String {
        let date = "\(Self.padded(year, to: 4))-\(Self.padded(month))-\(Self.padded(day))"
        return "\(date)T\(Self.padded(hour)):\(Self.padded(minute)):\(Self.padded(second))\(zone)"
    }

    private var zone: String {
        guard let minutes = minutesFromUTC else { return "" }
        return "\(minutes < 0 ? "-" : "+")\(Self.padded(abs(minutes) / 60)):\(Self.padded(abs(minutes) % 60))"
    }

    private static func padded(_ number: Int, to length: Int = 2) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(length - digits.count, 0)) + digits
    }
}

/// A place on the earth, by WGS 84 unless the camera was set otherwise.
public struct PhotoPlace: Hashable, Sendable {
    /// The latitude in degrees, -90 to 90; north is positive.
    public var latitude: Double
    /// The longitude in degrees, -180 to 180; east is positive.
    public var longitude: Double
    /// The altitude in metres above sea level.
    public var altitude: Double?

    /// - Returns: nil if the values are not a place.
    public init?(latitude: Double, longitude: Double, altitude: Double? = nil) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        self.latitude = latitude
        self.longitude = longitude
        self.altitude = altitude
    }
}
