import Cambium

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
