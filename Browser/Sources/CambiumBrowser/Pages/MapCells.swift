import Cambium

/// A map in cells of as many bytes each, so that the picture of a large store is no larger than a page can show.
struct MapCells {
  /// The cells of a row.
  static let columns = 128
  /// The width and the height of a cell with its margin.
  static let pitch = 8
  /// The most cells of a picture.
  private static let countMax = 16_384

  /// A use with a colour of its own.
  enum Area: Hashable {
    case tree(Int)
    case smallTrees, blobs, kept, garbage, headers
  }

  /// One file, as runs of cells.
  struct Band {
    let name: String
    let size: Int
    let rowCount: Int
    let runs: [Run]
  }

  /// Neighbouring cells of a row with the same use.
  struct Run {
    let row: Int
    let column: Int
    var count: Int
    let area: Area
  }

  struct Entry {
    let name: String
    let size: Int
    let colour: String
  }

  /// The bytes of all files.
  let size: Int
  let bytesPerCell: Int
  let bands: [Band]
  /// The uses with their sizes, the largest first.
  let legend: [Entry]
  private let trees: [String]
  /// The places of the largest trees among the colours.
  private let colours: [Int: Int]

  init(_ map: StoreMap) {
    let files = FileRegions.all(of: map)
    let size = files.reduce(0) { $0 + $1.size }
    // Whole blocks, as nothing smaller has a use of its own in the files of pages.
    let blocks = (size / StoreMap.blockSize + Self.countMax - 1) / Self.countMax
    let bytesPerCell = max(1, blocks) * StoreMap.blockSize
    var sizes: [Area: Int] = [:]
    for region in files.flatMap(\.regions) { sizes[region.area, default: 0] += region.bytes.count }
    let largest = sizes.keys.compactMap { area -> Int? in
      if case .tree(let tree) = area { tree } else { nil }
    }.sorted { (sizes[.tree($0)] ?? 0, $1) > (sizes[.tree($1)] ?? 0, $0) }
    let colours = Dictionary(
      zip(largest, Self.palette.indices).map { ($0, $1) }, uniquingKeysWith: { one, _ in one })
    func shown(_ area: Area) -> Area {
      if case .tree(let tree) = area, colours[tree] == nil { .smallTrees } else { area }
    }
    var shownSizes: [Area: Int] = [:]
    for (area, size) in sizes { shownSizes[shown(area), default: 0] += size }
    self.size = size
    self.bytesPerCell = bytesPerCell
    self.colours = colours
    trees = map.trees
    bands = files.map { $0.band(bytesPerCell, shown) }
    legend = shownSizes.sorted { ($0.value, $1.key.order) > ($1.value, $0.key.order) }.map {
      Entry(
        name: Self.name(of: $0.key, map.trees), size: $0.value,
        colour: Self.colour(of: $0.key, colours))
    }
  }

  func name(of area: Area) -> String { Self.name(of: area, trees) }
  func colour(of area: Area) -> String { Self.colour(of: area, colours) }

  private static func name(of area: Area, _ trees: [String]) -> String {
    switch area {
    case .tree(let tree): trees.indices.contains(tree) ? trees[tree] : "tree \(tree)"
    case .smallTrees: "smaller trees"
    case .blobs: "contents of blobs"
    case .kept: "kept for a rollback, or unfinished work"
    case .garbage: "garbage"
    case .headers: "headers and footers"
    }
  }

  private static func colour(of area: Area, _ colours: [Int: Int]) -> String {
    switch area {
    case .tree(let tree): colours[tree].map { palette[$0] } ?? "#808080"
    case .smallTrees: "#808080"
    case .blobs: "#0f766e"
    case .kept: "#b0a890"
    case .garbage: "#c9ccc6"
    case .headers: "#1f2937"
    }
  }

  /// For the largest trees, in this order: neighbours differ in both themes.
  private static let palette = [
    "#2f7d4f", "#e0763a", "#3b6fb6", "#c9a227", "#8a4fa0", "#38a3a5", "#b5383f", "#7a9e3a",
    "#5b5fc7", "#d1699b", "#8b5e34", "#4aa3df",
  ]
}

extension MapCells.Area {
  /// A number that puts areas of the same size in an order.
  fileprivate var order: Int {
    switch self {
    case .tree(let tree): tree
    case .smallTrees: .max - 4
    case .blobs: .max - 3
    case .kept: .max - 2
    case .garbage: .max - 1
    case .headers: .max
    }
  }
}

/// The regions of one file, of pages or of blobs.
private struct FileRegions {
  let name: String
  let size: Int
  let regions: [(bytes: Range<Int>, area: MapCells.Area)]

  static func all(of map: StoreMap) -> [FileRegions] {
    let unit = StoreMap.blockSize
    return map.segments.map { segment in
      FileRegions(
        name: "pages \(segment.number)", size: segment.blockCount * unit,
        regions: segment.regions.map { region in
          (region.blocks.lowerBound * unit..<region.blocks.upperBound * unit, area(of: region.use))
        })
    }
      + map.blobSegments.map { segment in
        FileRegions(
          name: "blobs \(segment.number)", size: segment.size,
          regions: segment.regions.map { ($0.bytes, area(of: $0.use)) })
      }
  }

  private static func area(of use: StoreMap.Use) -> MapCells.Area {
    switch use {
    case .header, .footer: .headers
    case .page(_, let tree): .tree(tree)
    case .kept: .kept
    case .garbage: .garbage
    }
  }

  private static func area(of use: StoreMap.BlobUse) -> MapCells.Area {
    switch use {
    case .header: .headers
    case .blobs: .blobs
    case .kept: .kept
    case .garbage: .garbage
    }
  }

  /// Returns the file in cells. A cell has the use of most of its bytes.
  func band(
    _ bytesPerCell: Int, _ shown: (MapCells.Area) -> MapCells.Area
  ) -> MapCells.Band {
    let count = (size + bytesPerCell - 1) / bytesPerCell
    var uses = [[MapCells.Area: Int]](repeating: [:], count: count)
    for region in regions {
      var byte = region.bytes.lowerBound
      while byte < region.bytes.upperBound, byte / bytesPerCell < count {
        let end = min(region.bytes.upperBound, (byte / bytesPerCell + 1) * bytesPerCell)
        uses[byte / bytesPerCell][shown(region.area), default: 0] += end - byte
        byte = end
      }
    }
    var runs: [MapCells.Run] = []
    for (cell, use) in uses.enumerated() {
      guard let area = use.max(by: { ($0.value, $1.key.order) < ($1.value, $0.key.order) })?.key
      else { continue }
      let (row, column) = cell.quotientAndRemainder(dividingBy: MapCells.columns)
      if let last = runs.last, last.row == row, last.area == area,
        last.column + last.count == column
      {
        runs[runs.count - 1].count += 1
      } else {
        runs.append(MapCells.Run(row: row, column: column, count: 1, area: area))
      }
    }
    let rows = (count + MapCells.columns - 1) / MapCells.columns
    return MapCells.Band(name: name, size: size, rowCount: max(1, rows), runs: runs)
  }
}
