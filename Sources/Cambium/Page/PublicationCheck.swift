/// Checks everything before it becomes part of a store: headers of files, nodes, values in pages of their own, footers and
/// schemas.
///
/// The code that opens stores reads the bytes that are about to be written. If it refuses them, or reads something else
/// than was meant, nothing is written: a fault of a writer makes an operation fail, and never damages a store.
enum PublicationCheck {
  /// Returns the error for a fault that the reader's code found in bytes that were not written yet.
  ///
  /// - Parameters:
  ///   - place: Where they were to be.
  ///   - invariant: The rule that they break, unless the fault names another.
  static func refusal(
    _ fault: StoreError, at place: StoreError.CorruptPlace, _ invariant: Invariant
  ) -> StoreError {
    switch fault {
    case .unsound: fault
    case .corrupt(let found, let broken, let reason):
      .unsound(found, invariant: broken, reason: reason)
    default: .unsound(place, invariant: invariant, reason: "\(fault)")
    }
  }

  /// Throws unless the reader's code found the intended state.
  ///
  /// - Throws: `.unsound`.
  static func expect<Written: Equatable>(
    _ found: Written, toBe written: Written, at place: StoreError.CorruptPlace,
    _ invariant: Invariant
  ) throws(StoreError) {
    guard found == written else {
      throw .unsound(place, invariant: invariant, reason: "something else would be read there")
    }
  }
}

/// A block at the beginning of a file that says what the file is.
protocol FileHeader: Equatable {
  /// Where it is to be, for errors.
  var place: StoreError.CorruptPlace { get }
  /// The rule that it obeys.
  static var invariant: Invariant { get }

  /// Writes a whole block.
  func fill(_ block: inout MutableRawSpan)
  /// Reads `block` as it is read when the file of `header` is opened.
  static func read(_ block: RawSpan, for header: Self) throws(StoreError) -> Self
}

extension File {
  /// Writes a header, once the code that reads it has accepted it.
  ///
  /// - Throws: `.unsound`, before anything is written; `.full`, `.io`.
  func write<Header: FileHeader>(
    _ header: Header, from offset: Int = 0, at site: Site
  ) throws(StoreError) {
    var block = AlignedBuffer(count: Layout.blockSize)
    var span = block.mutableBytes(0..<Layout.blockSize)
    header.fill(&span)
    try PublicationCheck.accept(header, in: block.bytes)
    try write(block.bytes, from: offset, at: site)
  }
}

extension PublicationCheck {
  /// Throws unless `block` is read as `header`.
  ///
  /// - Throws: `.unsound`.
  static func accept<Header: FileHeader>(
    _ header: Header, in block: RawSpan
  ) throws(StoreError) {
    let found: Header
    do throws(StoreError) {
      found = try Header.read(block, for: header)
    } catch {
      throw refusal(error, at: header.place, Header.invariant)
    }
    try expect(found, toBe: header, at: header.place, Header.invariant)
  }

  /// Returns an error unless `page` is read as `footer`, and nothing that it says is beyond what it publishes.
  static func fault(of footer: Footer, in page: RawSpan, at position: PagePosition) -> StoreError? {
    do throws(StoreError) {
      let found = try Footer(decoding: page, at: position, path: "")
      try found.checkBounds(at: position)
      try expect(found, toBe: footer, at: .page(position), .footerSections)
      return nil
    } catch {
      return refusal(error, at: .page(position), .footerSections)
    }
  }

  /// Returns an error unless `page` can be read by way of `reference`.
  static func fault<Content: PageContent>(
    of content: Content.Type, in page: RawSpan, _ reference: PageReference, level: UInt8
  ) -> StoreError? {
    do throws(StoreError) {
      try Content.validate(page, reference, level: level)
      return nil
    } catch {
      return refusal(error, at: .page(reference.position), .pageKind)
    }
  }
}
