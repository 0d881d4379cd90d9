/// What a spilled transaction did to one tree during some time, as a tree in a temporary segment: from keys
/// to operations.
///
/// It has its segment open; when the last that knows the run goes, so do its bytes.
struct Run: Sendable {
  /// Its values are operations as `RunValue` reads them.
  let tree: Tree
  /// How often what is in it was merged. Runs of one level are of about one size.
  let level: Int
  let filter: TreeFilter
  let lastKey: [UInt8]
}

/// An operation as the value of a run's entry.
///
///     ┌─────┬───────────┐
///     │kind │ value     │  of a put
///     ├─────┼───────────┤
///     │kind │ reference │  of a put whose value is so large that it is not moved from run to run
///     ├─────┼───────────┘
///     │kind │              of a removal
///     └─────┘
enum RunValue {
  enum Kind: UInt8 {
    case put = 0
    case removal = 1
    case largePut = 2
  }

  /// From this length on a value has pages of its own, beside all runs. It is read with one seek, which
  /// costs little of what reading it does; and what stays below goes into a chunk of `UnsortedEntries`.
  static let largeLength = 1 << 20

  @inline(__always)
  static func kind(_ bytes: RawSpan) -> Kind {
    Kind(rawValue: bytes.load(0, as: UInt8.self)) ?? .put
  }

  @_lifetime(copy bytes)
  @inline(__always)
  static func content(_ bytes: RawSpan) -> RawSpan { bytes.part(1, bytes.byteCount - 1) }
}

// MARK: Looking up

/// What a run says of a key.
enum RunAnswer {
  case nothing
  case removal
  /// In a leaf, or in pages that belong to it.
  case put(LeafEntry)
}

extension Run {
  /// - Throws: `.corrupt`, `.io`.
  @inline(never)
  func answer(for key: RawSpan) throws(StoreError) -> RunAnswer {
    guard let entry = try tree.entry(for: key) else { return .nothing }
    // A value in pages of its own is one of a put.
    if entry.isExternal { return .put(entry) }
    return RunValue.kind(entry.storedValue) == .removal ? .removal : .put(entry)
  }

  /// Appends the value of a put.
  ///
  /// - Parameter largeValues: Where those of large puts are read.
  func append(
    _ entry: LeafEntry, to value: inout [UInt8], largeValues: PageReader?
  ) throws(StoreError) {
    if entry.isExternal {
      var bytes: [UInt8] = []
      try tree.append(entry, to: &bytes)
      value.append(RunValue.content(bytes.rawSpan))
      return
    }
    let stored = entry.storedValue
    if RunValue.kind(stored) == .largePut {
      let reference = PageReference(decoding: RunValue.content(stored), at: 0)
      try largeValues?.appendLargeValue(reference, to: &value)
    } else {
      value.append(RunValue.content(stored))
    }
  }
}
