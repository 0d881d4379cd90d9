import Cambium

/// A map as a picture.
///
///     title
///     pages 1   ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇   a row for each so many blocks
///               ▇▇▇▇▇▇▇
///     blobs 1   ▇▇▇▇▇▇▇▇▇▇▇
///     legend    use, size, share: the largest first, in columns
struct MapPicture {
  private let map: StoreMap
  private let bands: [MapBand]
  private let blocksPerRow: Int
  let legend: MapLegend

  private static let left = 110
  private static let width = 900
  private static let rowHeight = 10
  private static let rowsMax = 400
  private static let legendColumns = 3

  init(_ map: StoreMap) {
    self.map = map
    bands = map.bands
    legend = MapLegend(map, bands)
    let blocks = bands.reduce(0) { $0 + $1.blockCount }
    // Rows of whole numbers of blocks, in a picture that a screen can show.
    blocksPerRow = max(256, (blocks + Self.rowsMax - 1) / Self.rowsMax)
  }

  var svg: String {
    var body = ""
    var y = 40
    for band in bands {
      body += text(band.name, x: 10, y: y + 9)
      for region in band.regions { body += rectangles(of: region, in: band, top: y) }
      let rows = (band.blockCount + blocksPerRow - 1) / blocksPerRow
      y += max(1, rows) * (Self.rowHeight + 2) + 12
    }
    let (entries, height) = legendText(top: y)
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.left + Self.width + 20) \(height)" \
      font-family="sans-serif" font-size="11">
      <rect width="100%" height="100%" fill="#ffffff"/>
      \(text("\(Figures.size(blockCount * StoreMap.blockSize)) in \(Figures.count(bands.count, "file"))", x: 10, y: 20))\
      \(body)\(entries)</svg>

      """
  }

  private var blockCount: Int { bands.reduce(0) { $0 + $1.blockCount } }

  /// A region may begin in one row and end in another.
  private func rectangles(of region: MapBand.Region, in band: MapBand, top: Int) -> String {
    let perRow = blocksPerRow * StoreMap.blockSize
    let scale = Double(Self.width) / Double(perRow)
    let colour = legend.colour(of: region.use)
    let title = self.title(of: region, in: band)
    var text = ""
    var byte = region.bytes.lowerBound
    while byte < region.bytes.upperBound {
      let row = byte / perRow
      let end = min(region.bytes.upperBound, (row + 1) * perRow)
      let x = Double(Self.left) + Double(byte - row * perRow) * scale
      text += rectangle(
        x: x, y: top + row * (Self.rowHeight + 2), width: Double(end - byte) * scale, colour, title)
      byte = end
    }
    return text
  }

  private func rectangle(
    x: Double, y: Int, width: Double, _ colour: String, _ title: String
  ) -> String {
    """
    <rect x="\(Figures.decimal(x))" y="\(y)" width="\(Figures.decimal(max(0.1, width)))" \
    height="\(Self.rowHeight)" fill="\(colour)"><title>\(title.inOneLine.inXML)</title></rect>

    """
  }

  private func text(_ text: String, x: Int, y: Int) -> String {
    "<text x=\"\(x)\" y=\"\(y)\">\(text.inOneLine.inXML)</text>\n"
  }

  /// The text that a viewer shows for the area under the pointer.
  private func title(of region: MapBand.Region, in band: MapBand) -> String {
    let size = Figures.size(region.bytes.count)
    switch region.use {
    case .blocks(let use):
      let first = region.bytes.lowerBound / StoreMap.blockSize
      let last = (region.bytes.upperBound - 1) / StoreMap.blockSize
      let blocks = first == last ? "block \(first)" : "blocks \(first) to \(last)"
      return "\(name(of: use)): \(blocks) of \(band.name), \(size)"
    case .blobs(let use):
      return "\(use.rawValue): from byte \(region.bytes.lowerBound) of \(band.name), \(size)"
    }
  }

  private func name(of use: StoreMap.Use) -> String {
    switch use {
    case .page(.leaf, let tree): "\(map.trees[tree]), leaves"
    case .page(.branch, let tree): "\(map.trees[tree]), branches"
    case .page(.value, let tree): "\(map.trees[tree]), large values"
    default: use.name
    }
  }

  private func legendText(top: Int) -> (String, height: Int) {
    let entries = legend.entries
    let rows = (entries.count + Self.legendColumns - 1) / Self.legendColumns
    var text = ""
    for (place, entry) in entries.enumerated() {
      let x = 10 + place / rows * ((Self.left + Self.width) / Self.legendColumns)
      let y = top + 10 + place % rows * 16
      text +=
        "<rect x=\"\(x)\" y=\"\(y)\" width=\"12\" height=\"10\" fill=\"\(entry.colour)\"/>\n"
      text += self.text(entry.text, x: x + 18, y: y + 9)
    }
    return (text, top + 10 + rows * 16 + 10)
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

/// One file of a map, as a picture shows it: a band of bytes.
struct MapBand {
  let name: String
  let size: Int
  let regions: [Region]

  struct Region {
    let bytes: Range<Int>
    let use: Use
  }

  /// The use of bytes, in either kind of file.
  enum Use: Hashable {
    case blocks(StoreMap.Use)
    case blobs(StoreMap.BlobUse)
  }

  /// The number of blocks that it fills, the last perhaps in part.
  var blockCount: Int { (size + StoreMap.blockSize - 1) / StoreMap.blockSize }
}

extension StoreMap {
  /// The files of pages, and after them those of blobs.
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
