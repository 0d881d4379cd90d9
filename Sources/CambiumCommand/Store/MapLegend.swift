import Cambium

/// The colours of a map, and their meanings.
struct MapLegend {
  /// The largest first.
  let entries: [Entry]
  /// The trees that have colours of their own.
  private let colours: [Int: String]

  struct Entry {
    let name: String
    let size: Int
    /// The share of all files, from 0 to 1.
    let share: Double
    let colour: String

    var text: String { "\(name), \(Figures.size(size)), \(Figures.share(share))" }
  }

  /// A part of a map with a colour of its own.
  private enum Area: Hashable {
    case tree(Int)
    case smallTrees, blobs, kept, garbage, headers
  }

  /// For the largest trees, in this order. They and the colours of other areas differ by more than 20 (CIEDE2000), so
  /// that they cannot be confused.
  private static let palette = [
    "#0055bb", "#ff6633", "#339955", "#880066", "#ffcc00", "#00bbbb", "#990000", "#8899ff",
    "#00ee00", "#ff00ff", "#775500", "#ffaacc", "#005500", "#ee2266",
  ]

  init(_ map: StoreMap, _ bands: [MapBand]) {
    var trees: [Int: Int] = [:]
    for region in bands.flatMap(\.regions) {
      if let tree = region.use.tree { trees[tree, default: 0] += region.bytes.count }
    }
    let largest = trees.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.map(\.key)
    let colours = Dictionary(
      zip(largest, Self.palette).map { ($0, $1) }, uniquingKeysWith: { one, _ in one })
    var sizes: [Area: Int] = [:]
    for region in bands.flatMap(\.regions) {
      sizes[Self.area(of: region.use, colours), default: 0] += region.bytes.count
    }
    let total = max(1, sizes.values.reduce(0, +))
    let entries = sizes.map { area, size -> Entry in
      let name =
        switch area {
        case .tree(let tree): map.trees[tree]
        case .smallTrees: Figures.count(trees.count - colours.count, "smaller tree")
        case .blobs: "contents of blobs"
        case .kept: "kept for a rollback, or unfinished work"
        case .garbage: "garbage"
        case .headers: "headers and footers"
        }
      return Entry(
        name: name, size: size, share: Double(size) / Double(total),
        colour: Self.colour(of: area, colours))
    }
    self.entries = entries.sorted { ($0.size, $1.name) > ($1.size, $0.name) }
    self.colours = colours
  }

  func colour(of use: MapBand.Use) -> String {
    Self.colour(of: Self.area(of: use, colours), colours)
  }

  private static func area(of use: MapBand.Use, _ colours: [Int: String]) -> Area {
    switch use {
    case .blocks(.header), .blocks(.footer), .blobs(.header): .headers
    case .blocks(.kept), .blobs(.kept): .kept
    case .blocks(.garbage), .blobs(.garbage): .garbage
    case .blobs(.blobs): .blobs
    case .blocks(.page(_, let tree)): colours[tree] == nil ? .smallTrees : .tree(tree)
    }
  }

  private static func colour(of area: Area, _ colours: [Int: String]) -> String {
    switch area {
    case .tree(let tree): colours[tree, default: "#808080"]
    case .smallTrees: "#808080"
    case .blobs: "#007777"
    case .kept: "#b0a890"
    case .garbage: "#dddddd"
    case .headers: "#000000"
    }
  }
}

extension MapLegend {
  /// The entries as a table, for terminals.
  var table: TextTable {
    var table = TextTable(["use", "size", "share"], numbers: [1, 2])
    for entry in entries {
      table.add([entry.name, Figures.size(entry.size), Figures.share(entry.share)])
    }
    return table
  }
}

extension MapBand.Use {
  /// The tree of a page; nil for other uses.
  fileprivate var tree: Int? {
    if case .blocks(.page(_, let tree)) = self { tree } else { nil }
  }
}
