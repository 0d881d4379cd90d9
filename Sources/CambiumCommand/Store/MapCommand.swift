import ArgumentParser
import Cambium

struct MapCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "map", abstract: "Draws how a store uses its files.",
    discussion: """
      The picture is SVG, with a band for each file. Live pages have the colours of their trees, and garbage, whose \
      space compaction reclaims, is grey. The legend lists sizes and shares, and a viewer shows what an area is when \
      you point at it. On a terminal, the command prints the legend as a table instead of the picture.

      Example: cambium map orders.cambium --output orders.svg
      """)

  @OptionGroup var arguments: StoreArguments

  @OptionGroup var file: OutputArguments

  func run() throws {
    let map = try PersistentStore.map(at: arguments.store, options: arguments.reading)
    let picture = MapPicture(map)
    let text = arguments.json ? "\(map.json)\n" : picture.svg
    if let file = try file.create(of: arguments.store) {
      try file.write(text)
      try file.close()
    } else if Terminal.isOutput, !arguments.json {
      for line in picture.legend.table.lines { StandardOutput.line(line) }
      StandardOutput.line(Style.faint("For the picture, name a file: --output map.svg"))
    } else {
      StandardOutput.write(text)
    }
    if let fault = map.faults.first {
      throw CommandFailure(
        .fault, "The map counts everything below damaged pages as garbage: \(fault)",
        ErrorDetail(of: fault))
    }
  }
}

extension StoreMap {
  fileprivate var json: JSONValue {
    [
      "blockSize": JSONValue(Self.blockSize),
      "trees": .array(trees.map { .string($0) }),
      "segments": .array(
        segments.map { segment in
          [
            "number": JSONValue(segment.number), "blocks": JSONValue(segment.blockCount),
            "regions": .array(segment.regions.map { json(of: $0) }),
          ]
        }),
      "blobSegments": .array(
        blobSegments.map { segment in
          [
            "number": JSONValue(segment.number), "size": JSONValue(segment.size),
            "regions": .array(
              segment.regions.map { region in
                [
                  "first": JSONValue(region.bytes.lowerBound),
                  "count": JSONValue(region.bytes.count), "use": .string(region.use.rawValue),
                ]
              }),
          ]
        }),
    ]
  }

  private func json(of region: Region) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init(name: "first", value: JSONValue(region.blocks.lowerBound)),
      .init(name: "count", value: JSONValue(region.blocks.count)),
      .init(name: "use", value: .string(region.use.name)),
    ]
    if case .page(_, let tree) = region.use {
      members.append(.init(name: "tree", value: JSONValue(tree)))
    }
    return .object(members)
  }
}

extension StoreMap.Use {
  var name: String {
    switch self {
    case .header: "header"
    case .footer: "footer"
    case .page(let page, _): page.rawValue
    case .kept: "kept"
    case .garbage: "garbage"
    }
  }
}
