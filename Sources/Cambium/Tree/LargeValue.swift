/// A value too large for a leaf, in pages of its own.
///
/// Up to about 256 KiB it is one page; beyond, a page of references to its parts, in order:
///
///     value      header, length u32, zero u32, bytes
///     value list header, length u64, count u32, zero u32, count references
///
/// Parts lie before the list, and both before the leaf that refers to them.
enum LargeValue {
  static let partHeaderSize = 32
  static let listHeaderSize = 40
  /// The bytes of a value that one page holds.
  static let partLengthMax = Layout.pageBlocksMax * Layout.blockSize - partHeaderSize
  static let partCountMax =
    (StoreError.Limit.valueLength.bound + partLengthMax - 1) / partLengthMax
}

// MARK: Writing

extension PageAppender {
  /// Appends a value's pages and returns the reference to the first to read.
  func append(largeValue value: RawSpan) throws(StoreError) -> PageReference {
    let partLengthMax = LargeValue.partLengthMax
    if value.byteCount <= partLengthMax { return try append(valuePart: value) }
    var references: [UInt8] = []
    var liveBytes: UInt64 = 0
    for start in stride(from: 0, to: value.byteCount, by: partLengthMax) {
      let end = min(start + partLengthMax, value.byteCount)
      let part = try append(valuePart: value.extracting(start..<end))
      part.encode(to: &references)
      liveBytes += part.liveBytes
    }
    let size = LargeValue.listHeaderSize + references.count
    let blocks = (size + Layout.blockSize - 1) / Layout.blockSize
    let length = value.byteCount
    var aggregates = PageReference.unplaced(blocks: blocks)
    aggregates.liveBytes += liveBytes
    return try append(ValueListPage.self, blocks: blocks, stating: aggregates) { page in
      page.store(UInt64(length), at: 24)
      page.store(UInt32(references.count / PageReference.size), at: 32)
      page.store(UInt32(0), at: 36)
      page.copy(references.rawSpan, to: LargeValue.listHeaderSize)
      return size
    }
  }

  private func append(valuePart part: RawSpan) throws(StoreError) -> PageReference {
    let size = LargeValue.partHeaderSize + part.byteCount
    let blocks = (size + Layout.blockSize - 1) / Layout.blockSize
    return try append(ValuePage.self, blocks: blocks) { page in
      page.store(UInt32(part.byteCount), at: 24)
      page.store(UInt32(0), at: 28)
      page.copy(part, to: LargeValue.partHeaderSize)
      return size
    }
  }
}

// MARK: Reading

extension PageReader {
  /// Appends the value behind `reference` to `bytes`.
  ///
  /// - Throws: `.corrupt` before more memory is taken than the pages read account for, `.io`.
  func appendLargeValue(_ reference: PageReference, to bytes: inout [UInt8]) throws(StoreError) {
    if reference.liveBytes == reference.size {
      let page = try page(reference, level: 0, as: ValuePage.self)
      bytes.append(ValuePage.part(page.bytes))
      return
    }
    let list = try page(reference, level: 0, as: ValueListPage.self)
    let start = bytes.count
    for index in 0..<ValueListPage.count(list.bytes) {
      let part = try page(
        ValueListPage.reference(index, list.bytes), level: 0, as: ValuePage.self)
      bytes.append(ValuePage.part(part.bytes))
    }
    guard bytes.count - start == ValueListPage.length(list.bytes) else {
      throw reference.fault(.valueLength, "its parts hold \(bytes.count - start) bytes")
    }
  }
}

/// A part of a large value, or all of it.
enum ValuePage: PageContent {
  static let kind = PageKind.value

  static func validate(
    _ page: RawSpan, _ reference: PageReference, level: UInt8
  ) throws(StoreError) {
    let length = Int(page.load(24, as: UInt32.self))
    let size = LargeValue.partHeaderSize + length
    guard (size + Layout.blockSize - 1) / Layout.blockSize == Int(reference.blocks) else {
      throw reference.fault(.valueLength, "\(length) bytes of a value in \(reference.size)")
    }
  }

  @_lifetime(copy page)
  static func part(_ page: RawSpan) -> RawSpan {
    page.part(LargeValue.partHeaderSize, Int(page.load(24, as: UInt32.self)))
  }
}

/// The references to the parts of a large value.
enum ValueListPage: PageContent {
  static let kind = PageKind.valueList

  static func length(_ page: RawSpan) -> Int { Int(clamping: page.load(24, as: UInt64.self)) }
  static func count(_ page: RawSpan) -> Int { Int(page.load(32, as: UInt32.self)) }

  static func reference(_ index: Int, _ page: RawSpan) -> PageReference {
    PageReference(decoding: page, at: LargeValue.listHeaderSize + PageReference.size * index)
  }

  static func validate(
    _ page: RawSpan, _ reference: PageReference, level: UInt8
  ) throws(StoreError) {
    let count = count(page)
    let size = LargeValue.listHeaderSize + PageReference.size * count
    guard count >= 2, count <= LargeValue.partCountMax, size <= page.byteCount,
      length(page) <= StoreError.Limit.valueLength.bound
    else {
      throw reference.fault(.valueLength, "\(length(page)) bytes in \(count) parts")
    }
    var liveBytes = UInt64(reference.size)
    for index in 0..<count {
      let part = Self.reference(index, page)
      try part.check(below: reference.position)
      guard part.liveBytes == part.size else {
        throw reference.fault(.valueLength, "part \(index) is itself in parts")
      }
      liveBytes += part.liveBytes
    }
    guard liveBytes == reference.liveBytes else {
      throw reference.fault(
        .aggregates, "\(liveBytes) bytes are live there, its reference says \(reference.liveBytes)")
    }
  }
}
