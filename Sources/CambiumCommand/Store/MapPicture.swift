import Cambium

/// A map as a picture.
///
///     title
///     pages 1   ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇   a row for each so many blocks
///               ▇▇▇▇▇▇▇
///     legend    tree, size; garbage, kept, headers and footers
struct MapPicture {
  private let map: StoreMap
  private let blocksPerRow: Int

  private static let left = 110
  private static let width = 900
  private static let rowHeight = 10
  private static let rowsMax = 400

  init(_ map: StoreMap) {
    self.map = map
    let blocks = map.segments.reduce(0) { $0 + $1.blockCount }
    // Rows of whole numbers of blocks, in a picture that a screen can show.
    blocksPerRow = max(256, (blocks + Self.rowsMax - 1) / Self.rowsMax)
  }

  var svg: String {
    var body = ""
    var y = 40
    for segment in map.segments {
      body += text("pages \(segment.number)", x: 10, y: y + 9)
      for region in segment.regions { body += rectangles(of: region, top: y) }
      let rows = (segment.blockCount + blocksPerRow - 1) / blocksPerRow
      y += max(1, rows) * (Self.rowHeight + 2) + 12
    }
    let (legend, height) = legend(top: y)
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.left + Self.width + 20) \(height)" \
      font-family="sans-serif" font-size="11">
      <rect width="100%" height="100%" fill="#ffffff"/>
      \(text("\(Figures.size(blockCount * StoreMap.blockSize)) in \(map.segments.count) segments", x: 10, y: 20))\
      \(body)\(legend)</svg>

      """
  }

  private var blockCount: Int { map.segments.reduce(0) { $0 + $1.blockCount } }

  /// A region may begin in one row and end in another.
  private func rectangles(of region: StoreMap.Region, top: Int) -> String {
    var text = ""
    var block = region.blocks.lowerBound
    while block < region.blocks.upperBound {
      let row = block / blocksPerRow
      let end = min(region.blocks.upperBound, (row + 1) * blocksPerRow)
      let scale = Double(Self.width) / Double(blocksPerRow)
      let x = Double(Self.left) + Double(block - row * blocksPerRow) * scale
      text += rectangle(
        x: x, y: top + row * (Self.rowHeight + 2), width: Double(end - block) * scale,
        colour(of: region.use))
      block = end
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
    var sizes: [StoreMap.Use: Int] = [:]
    for segment in map.segments {
      for region in segment.regions { sizes[region.use, default: 0] += region.blocks.count }
    }
    var (text, y) = ("", top + 10)
    for (use, name) in uses {
      guard let blocks = sizes[use], blocks > 0 else { continue }
      text += "<rect x=\"10\" y=\"\(y)\" width=\"12\" height=\"10\" fill=\"\(colour(of: use))\"/>\n"
      text += self.text("\(name), \(Figures.size(blocks * StoreMap.blockSize))", x: 28, y: y + 9)
      y += 16
    }
    return (text, y + 10)
  }

  private var uses: [(StoreMap.Use, String)] {
    map.trees.enumerated().flatMap { tree, name in
      StoreMap.Page.allCases.map { page in
        (StoreMap.Use.page(page, tree: tree), "\(name): \(page.rawValue)")
      }
    } + [
      (.footer, "footers"), (.header, "headers"), (.kept, "kept or under way"),
      (.garbage, "garbage"),
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
