import Cambium

/// A map as a picture.
///
///     title
///     pages 1   ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇   a row for each so many blocks
///               ▇▇▇▇▇▇▇
///     blobs 1   ▇▇▇▇▇▇▇▇▇▇▇
///     legend    tree, size; blobs; garbage, kept, headers and footers
struct MapPicture {
  private let map: StoreMap
  private let blocksPerRow: Int

  private static let left = 110
  private static let width = 900
  private static let rowHeight = 10
  private static let rowsMax = 400

  init(_ map: StoreMap) {
    self.map = map
    let blocks = map.bands.reduce(0) { $0 + $1.blockCount }
    // Rows of whole numbers of blocks, in a picture that a screen can show.
    blocksPerRow = max(256, (blocks + Self.rowsMax - 1) / Self.rowsMax)
  }

  var svg: String {
    var body = ""
    var y = 40
    for band in map.bands {
      body += text(band.name, x: 10, y: y + 9)
      for region in band.regions { body += rectangles(of: region, top: y) }
      let rows = (band.blockCount + blocksPerRow - 1) / blocksPerRow
      y += max(1, rows) * (Self.rowHeight + 2) + 12
    }
    let (legend, height) = legend(top: y)
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.left + Self.width + 20) \(height)" \
      font-family="sans-serif" font-size="11">
      <rect width="100%" height="100%" fill="#ffffff"/>
      \(text("\(Figures.size(blockCount * StoreMap.blockSize)) in \(map.bands.count) segments", x: 10, y: 20))\
      \(body)\(legend)</svg>

      """
  }

  private var blockCount: Int { map.bands.reduce(0) { $0 + $1.blockCount } }

  /// A region may begin in one row and end in another.
  private func rectangles(of region: MapBand.Region, top: Int) -> String {
    let perRow = blocksPerRow * StoreMap.blockSize
    let scale = Double(Self.width) / Double(perRow)
    var text = ""
    var byte = region.bytes.lowerBound
    while byte < region.bytes.upperBound {
      let row = byte / perRow
      let end = min(region.bytes.upperBound, (row + 1) * perRow)
      let x = Double(Self.left) + Double(byte - row * perRow) * scale
      text += rectangle(
        x: x, y: top + row * (Self.rowHeight + 2), width: Double(end - byte) * scale,
        colour(of: region.use))
      byte = end
    }
    return text
  }

  private func rectangle(x: Double, y: Int, width: Double, _ colour: String) -> String {
    """
    <rect x="\(Figures.decimal(x))" y="\(y)" width="\(Figures.decimal(max(0.1, width)))" \
    height="\(Self.rowHeight)" fill="\(colour)"/>

    """
  }

  private func text(_ text: String, x: Int, y: Int) -> String {
    "<text x=\"\(x)\" y=\"\(y)\">\(text.inOneLine.inXML)</text>\n"
  }
}

// MARK: Colours and their meaning

extension MapPicture {
  /// Trees go around the circle of hues; branches are darker than leaves, values lighter.
  private func colour(of use: MapBand.Use) -> String {
    switch use {
    case .blocks(let use): colour(of: use)
    case .blobs(.header): "#000000"
    case .blobs(.blobs): "#3b6ea5"
    case .blobs(.kept): "#b0a890"
    case .blobs(.garbage): "#dddddd"
    }
  }

  private func colour(of use: StoreMap.Use) -> String {
    switch use {
    case .header, .footer: return "#000000"
    case .kept: return "#b0a890"
    case .garbage: return "#dddddd"
    case .page(let page, let tree):
      let hue = tree * 137 % 360
      switch page {
      case .leaf: return "hsl(\(hue),65%,55%)"
      case .branch: return "hsl(\(hue),80%,30%)"
      case .value: return "hsl(\(hue),55%,75%)"
      }
    }
  }

  private func legend(top: Int) -> (String, height: Int) {
    var sizes: [MapBand.Use: Int] = [:]
    for region in map.bands.flatMap(\.regions) {
      sizes[region.use, default: 0] += region.bytes.count
    }
    var (text, y) = ("", top + 10)
    for (use, name) in uses {
      guard let size = sizes[use], size > 0 else { continue }
      text += "<rect x=\"10\" y=\"\(y)\" width=\"12\" height=\"10\" fill=\"\(colour(of: use))\"/>\n"
      text += self.text("\(name), \(Figures.size(size))", x: 28, y: y + 9)
      y += 16
    }
    return (text, y + 10)
  }

  private var uses: [(MapBand.Use, String)] {
    let pages = map.trees.enumerated().flatMap { tree, name in
      StoreMap.Page.allCases.map { page in
        (MapBand.Use.blocks(.page(page, tree: tree)), "\(name): \(page.rawValue)")
      }
    }
    return pages + [
      (.blocks(.footer), "footers"), (.blocks(.header), "headers"),
      (.blocks(.kept), "kept or under way"), (.blocks(.garbage), "garbage"),
      (.blobs(.blobs), "blobs"), (.blobs(.header), "blobs: headers"),
      (.blobs(.kept), "blobs: kept"), (.blobs(.garbage), "blobs: garbage"),
    ]
  }
}

extension String {
  fileprivate var inXML: String {
    map { character in
      switch character {
      case "<": "&lt;"
      case ">": "&gt;"
      case "&": "&amp;"
      case "\"": "&quot;"
      default: String(character)
      }
    }.joined()
  }
}

/// One segment of a map, as a picture has it: a band of bytes.
struct MapBand {
  let name: String
  let size: Int
  let regions: [Region]

  struct Region {
    let bytes: Range<Int>
    let use: Use
  }

  /// What bytes are used for, in either kind of segment.
  enum Use: Hashable {
    case blocks(StoreMap.Use)
    case blobs(StoreMap.BlobUse)
  }

  /// As many blocks as it begins.
  var blockCount: Int { (size + StoreMap.blockSize - 1) / StoreMap.blockSize }
}

extension StoreMap {
  /// The segments of pages, and those of blobs behind them.
  var bands: [MapBand] {
    let unit = Self.blockSize
    return segments.map { segment in
      MapBand(
        name: "pages \(segment.number)", size: segment.blockCount * unit,
        regions: segment.regions.map { region in
          MapBand.Region(
            bytes: region.blocks.lowerBound * unit..<region.blocks.upperBound * unit,
            use: .blocks(region.use))
        })
    }
      + blobSegments.map { segment in
        MapBand(
          name: "blobs \(segment.number)", size: segment.size,
          regions: segment.regions.map { MapBand.Region(bytes: $0.bytes, use: .blobs($0.use)) })
      }
  }
}
