/// The items that the grid shows, in order: those that match the search.
struct ShownItems {
    let all: [GalleryItem]
    /// Indices of ``all``, by position in the grid.
    private(set) var positions: [Int]
    private(set) var query = ""
    /// The texts to search, in lower case.
    private let texts: [String]

    init(_ items: [GalleryItem]) {
        all = items
        positions = Array(items.indices)
        texts = items.map { ($0.name + " " + $0.url).lowercased() }
    }

    var count: Int { positions.count }

    /// The item at a position of the grid.
    subscript(position: Int) -> GalleryItem? {
        positions.indices.contains(position) ? all[positions[position]] : nil
    }

    /// Shows the items whose name or URL contains all words of a query.
    ///
    /// - Returns: whether other items are shown than before.
    mutating func search(_ query: String) -> Bool {
        self.query = query
        let words = query.lowercased().split(separator: " ").map(String.init)
        let found = all.indices.filter { index in words.allSatisfy { texts[index].contains($0) } }
        defer { positions = found }
        return found != positions
    }
}
