/// Refuses a log that is older than the pages beside it, as after a restore of some of a store's files.
///
/// Such a log leads to a state that was true once, and nothing in it is damaged. But a writer begins a use of the
/// log before it appends a page, and each of its footers names that use. So a footer of a use that the log has not
/// come to tells that the log is of an older copy of the store: no crash leaves that behind.
///
/// Only footers near the ends of files are looked for. A store that was closed has its newest one there.
enum LogAge {
  /// The blocks at the end of a segment that are looked at: two copies of the largest footer.
  static var blockCount: UInt32 { 2 * UInt32(Layout.pageBlocksMax) }

  /// Refuses a log of an epoch before that of the newest footer, as of a store that was handed over to another writer.
  ///
  /// - Throws: `.corrupt` (L8).
  static func check(_ header: LogHeader, _ newest: Footer) throws(StoreError) {
    guard header.epoch < newest.epoch else { return }
    throw .corrupt(
      .log(file: header.file, block: 0), invariant: .logAge,
      reason: "the log is of epoch \(header.epoch), and its newest footer of epoch \(newest.epoch)")
  }

  /// - Parameters:
  ///   - header: That of the log in use.
  ///   - newest: The newest footer that the log names.
  /// - Complexity: lists the directory. Segments that only a later state or a writer that was interrupted can have
  ///   written to are opened, and up to 512 KiB of each are read.
  /// - Throws: `.corrupt` (L8), `.io`.
  static func check(
    _ header: LogHeader, newest: FooterReference, in medium: any FileSystem
  ) throws(StoreError) {
    for name in try medium.list(at: .directoryList) where !name.isTemporary {
      guard case .pages(let number) = name.kind, number >= newest.position.segment else { continue }
      let first = number == newest.position.segment ? newest.endBlock : 1
      do throws(StoreError) {
        try check(header, number, from: first, in: medium)
      } catch {
        // A writer removes segments at any time.
        guard case .missing = error else { throw error }
      }
    }
  }

  private static func check(
    _ header: LogHeader, _ number: UInt32, from first: UInt32, in medium: any FileSystem
  ) throws(StoreError) {
    let file = try medium.open(.pages(number), .read, at: .segmentOpen)
    let size = try file.size(at: .segmentOpen) / Layout.blockSize
    let end = UInt32(clamping: min(size, Layout.segmentBlocksMax))
    let start = max(first, end - min(end, blockCount))
    if start >= end { return }
    let buffer = PageBuffer(count: Int(end - start) * Layout.blockSize)
    var span = buffer.mutableBytes
    let count = try file.read(into: &span, from: Int(start) * Layout.blockSize, at: .pageRead)
    let known = UInt32(clamping: header.number)
    for index in 0..<count / Layout.blockSize {
      let position = PagePosition(segment: number, block: start + UInt32(index))
      let bytes = buffer.bytes.part(index * Layout.blockSize, count - index * Layout.blockSize)
      guard let footer = footer(bytes, at: position, of: header.identity), footer.logUse > known
      else { continue }
      throw .corrupt(
        .log(file: header.file, block: 0), invariant: .logAge,
        reason:
          "it is use \(header.number) of the log, and the footer at \(position), with commits up to"
          + " \(footer.coveredSequence), was written in use \(footer.logUse)")
    }
  }

  /// The footer that `bytes` begin with, if they do.
  private static func footer(
    _ bytes: RawSpan, at position: PagePosition, of identity: StoreIdentity
  ) -> Footer? {
    let header = PageHeader(bytes)
    let size = Int(header.blocks) * Layout.blockSize
    guard header.kind == PageKind.footer.rawValue, header.level == 0, header.isPlain, size > 0,
      size <= bytes.byteCount
    else { return nil }
    let page = bytes.part(0, size)
    guard PageChecksum.of(page, at: position, in: identity) == header.checksum,
      let footer = try? Footer(decoding: page, at: position, path: ""), footer.identity == identity
    else { return nil }
    return footer
  }
}
