/// Appends pages to segments, in large writes, and publishes them by footers.
///
/// There is one append position: the end of the highest segment. Nothing that was appended can be
/// read before `publish` made it durable; after that the next pages follow after the footer, as often
/// as one likes. Another appender may write to other segments meanwhile; `takeOver` makes these part of this one.
///
/// After a failed system call the appender is of no more use, and says so (`.poisoned`): the caller
/// deletes its unpublished pages, and starts again with its `successor`, in a new segment.
final class PageAppender {
  /// How appended pages reach the disk.
  enum Output: Equatable, Sendable {
    /// Past the page cache: for bulk. Written pages are then read from the disk at first.
    case direct
    /// Through the page cache: for little.
    case buffered
  }

  /// The fate of segments.
  enum Lifetime: Equatable, Sendable {
    /// They get their names and are published.
    case permanent
    /// They are unlinked as soon as they were made, never synced, and gone with the last who has them open.
    /// Only `readable` shows what is in them.
    case temporary
  }

  private struct Open {
    let number: UInt32
    let file: any File
    /// The first block that is not published.
    var firstBlock: UInt32
    /// The first block that cannot be read yet.
    var firstUnreadable: UInt32
    /// The block after the last one written or waiting in the buffer.
    var endBlock: UInt32
    var isSynced: Bool

    /// A segment from whose block `end` on pages are appended.
    init(_ number: UInt32, _ file: any File, end: UInt32) {
      self.number = number
      self.file = file
      firstBlock = end
      firstUnreadable = end
      endBlock = end
      isSynced = true
    }
  }

  private let medium: any FileSystem
  private let identity: StoreIdentity
  private let output: Output
  private let lifetime: Lifetime
  private var segmentBlocks: Int
  /// The numbers of the segments to come.
  let numbers: SegmentNumbers
  /// The segments that got pages since the last publication, and before them, or alone, the one that
  /// continues.
  private var open: [Open] = []
  /// The segments that were begun since a footer of this appender became true.
  private var begun: [UInt32] = []
  /// The segment of the newest true footer, if this appender wrote to it, up to the footer's end.
  private var settled: Open?
  /// True if a system call has failed, or is being made.
  private var isBroken = false
  private let bufferSize: Int
  /// The use of the log that the footers of this writer name.
  var logUse: UInt32 = 0
  /// Whole pages that wait for the next write; they belong at the end of the last open segment. Before the
  /// first page it is small: a store that is only read pays nothing for it.
  private var buffer = AlignedBuffer(count: 1)
  private var waiting = 0
  /// The page being made. The buffer's lines are far away, in the cache of the core that wrote them out: touched
  /// one by one they took a third of a fold's time.
  private var draft = AlignedBuffer(count: 1)
  /// Writes out on another thread, as long as a caller asks for that.
  private var behind: WriteBehind?
  /// The pages in whose place others were appended since the last publication.
  var replaced = ReplacedPages()

  /// - Parameters:
  ///   - number: The first segment to make, above all that there are. One that has the number already
  ///     is not replaced: appending then throws `.io(.fileExists, …)`.
  ///   - segmentBlocks: The size a segment may reach, in blocks. It grows with the store: see `publish`.
  convenience init(
    to medium: any FileSystem, of identity: StoreIdentity, from number: UInt32, output: Output,
    lifetime: Lifetime = .permanent, segmentBlocks: Int = Layout.usualSegmentBlocks,
    bufferSize: Int = 1 << 20
  ) {
    self.init(
      to: medium, of: identity, SegmentNumbers(from: number), output: output, lifetime: lifetime,
      segmentBlocks: segmentBlocks, bufferSize: bufferSize)
  }

  /// - Parameter numbers: Those of the segments to make, which other appenders may share.
  init(
    to medium: any FileSystem, of identity: StoreIdentity, _ numbers: SegmentNumbers,
    output: Output, lifetime: Lifetime = .permanent,
    segmentBlocks: Int = Layout.usualSegmentBlocks, bufferSize: Int = 1 << 20
  ) {
    precondition(segmentBlocks > 2 * Layout.pageBlocksMax, "a segment has room for any footer")
    precondition(
      bufferSize >= 2 * Layout.pageBlocksMax * Layout.blockSize,
      "the buffer has room for any footer")
    self.medium = medium
    self.identity = identity
    self.output = output
    self.lifetime = lifetime
    self.segmentBlocks = min(segmentBlocks, Layout.segmentBlocksMax)
    self.numbers = numbers
    self.bufferSize = bufferSize
  }

  /// Continues where `reference`'s footer ends, in its segment, if nothing was written there since and it has no
  /// features that only a newer program can write; otherwise in a new one.
  ///
  /// After the footer of the true state the file ends, unless a writer was interrupted there or failed.
  /// Bytes of such a writer are neither trusted nor cut off.
  ///
  /// - Parameter reference: Of the true state's footer. There is one append position, so that its segment is
  ///   the highest of all that are in use.
  /// - Throws: `.missing`, `.corrupt` if the file is no segment of this store, `.newerFormat`, `.io`.
  convenience init(
    to medium: any FileSystem, of identity: StoreIdentity, behind reference: FooterReference,
    from number: UInt32, output: Output, segmentBlocks: Int = Layout.usualSegmentBlocks,
    bufferSize: Int = 1 << 20
  ) throws(StoreError) {
    self.init(
      to: medium, of: identity, from: number, output: output, segmentBlocks: segmentBlocks,
      bufferSize: bufferSize)
    try goOn(behind: reference)
  }

  /// Another appender, which abandons the unpublished pages of this one and begins in a new segment.
  func successor() -> PageAppender {
    let successor = PageAppender(
      to: medium, of: identity, numbers, output: output, lifetime: lifetime,
      segmentBlocks: segmentBlocks, bufferSize: bufferSize)
    successor.logUse = logUse
    return successor
  }

  /// Notes that the last published footer is true: nothing up to its end is deleted any more.
  func settle() {
    begun.removeAll()
    settled = open.last
  }

  /// Frees the space of all pages since the newest true footer, as far as that is possible now. The
  /// rest is cut off when the store is opened next. The appender cannot be used afterwards.
  ///
  /// - Precondition: No footer after that one is true, or may be on the disk.
  func giveBack() {
    isBroken = true
    for number in begun { unlink(number) }
    begun.removeAll()
    guard let settled else { return }
    try? settled.file.cut(to: Int(settled.endBlock) * Layout.blockSize, at: .segmentCutTruncate)
  }

  private func unlink(_ number: UInt32) {
    let name = FileName.pages(number)
    try? medium.unlink(name, at: .segmentUnlink)
    try? medium.unlink(name.temporary, at: .segmentUnlink)
  }

  /// The blocks that were appended since the last publication, segment by segment.
  var extents: [AppendedBlocks] {
    open.filter { $0.firstBlock < $0.endBlock }
      .map { AppendedBlocks(number: $0.number, blocks: $0.firstBlock..<$0.endBlock) }
  }

  /// The extents that this appender wrote itself: `extents` without those that it took over.
  var ownExtents: [AppendedBlocks] {
    open.filter { $0.firstUnreadable < $0.endBlock }
      .map { AppendedBlocks(number: $0.number, blocks: $0.firstUnreadable..<$0.endBlock) }
  }

  /// The number of blocks that were appended since the last publication.
  var blockCount: Int { extents.reduce(0) { $0 + $1.blocks.count } }

  /// Where the next page goes, if there is room for it in that segment; nil before there is a segment.
  var end: PagePosition? {
    open.last.map { PagePosition(segment: $0.number, block: $0.endBlock) }
  }

  /// True if `position` was appended here since the last publication, and so cannot be read yet.
  func wrote(_ position: PagePosition) -> Bool {
    open.contains { $0.number == position.segment && $0.firstUnreadable <= position.block }
  }

  /// Appends a page that `fill` writes, once the code that reads it has accepted it. `fill` returns how many bytes it
  /// used, the rest becomes zero.
  ///
  /// - Parameter aggregates: The fields that a reference to the page says of it and of the pages below; nil if there
  ///   are none.
  /// - Throws: `.unsound`; `.limitExceeded`, `.full`, `.io`, `.poisoned`.
  func append<Content: PageContent>(
    _ content: Content.Type, level: UInt8 = 0, flags: UInt8 = 0, blocks: Int,
    stating aggregates: PageReference? = nil, _ fill: (inout MutableRawSpan) -> Int
  ) throws(StoreError) -> PageReference {
    var reference = try draft(Content.kind, level: level, flags: flags, blocks: blocks, fill)
    if let aggregates { reference.state(aggregates) }
    let fault = PublicationCheck.fault(
      of: content, in: draft.bytes.part(0, reference.size), reference, level: level)
    if let fault { throw fault }
    take(reference)
    return reference
  }

  /// Appends the page that `fill` writes, without checking it.
  ///
  /// - Returns: a reference to the page with `liveBytes` counting the page alone.
  func append(
    _ kind: PageKind, level: UInt8 = 0, flags: UInt8 = 0, blocks: Int,
    _ fill: (inout MutableRawSpan) -> Int
  ) throws(StoreError) -> PageReference {
    let reference = try draft(kind, level: level, flags: flags, blocks: blocks, fill)
    take(reference)
    return reference
  }

  /// Writes the next page into the draft. It must be taken before another one is made.
  private func draft(
    _ kind: PageKind, level: UInt8 = 0, flags: UInt8 = 0, blocks: Int,
    _ fill: (inout MutableRawSpan) -> Int
  ) throws(StoreError) -> PageReference {
    let size = blocks * Layout.blockSize
    try makeRoom(blocks: blocks)
    let place = open.count - 1
    let position = PagePosition(segment: open[place].number, block: open[place].endBlock)

    if draft.count < size { draft = AlignedBuffer(count: size) }
    var page = draft.mutableBytes(0..<size)
    let used = fill(&page)
    page.zero(used..<size)
    let unsealed = PageHeader(
      kind: kind, level: level, blocks: UInt8(blocks), flags: flags, checksum: PageChecksum())
    unsealed.encode(to: &page)
    let checksum = PageChecksum.of(page.bytes, at: position, in: identity)
    page.store(checksum.rawValue, at: 0)
    return PageReference(
      position: position, blocks: UInt8(blocks), checksum: checksum, lowestVersion: 0, count: 0,
      liveBytes: UInt64(size))
  }

  /// Appends the page that was made last.
  private func take(_ reference: PageReference) {
    buffer.copyPastCaches(draft.bytes.part(0, reference.size), to: waiting)
    waiting += reference.size
    let place = open.count - 1
    open[place].endBlock += UInt32(reference.blocks)
    open[place].isSynced = false
  }

  /// Has what comes next lie in another segment than what came before.
  ///
  /// - Throws: `.limitExceeded`, `.full`, `.io`, `.poisoned`.
  func leaveSegment() throws(StoreError) {
    guard let last = open.last, last.endBlock > 1 else { return }
    try writeOut()
    try begin()
  }

  /// Writes out the buffer, and returns all that was appended, to be read by the files it is in.
  func readable() throws(StoreError) -> SegmentTable {
    try writeOut()
    try finishWriting()
    var entries: [SegmentTable.Entry] = []
    for segment in open {
      let readable = try PageSegment(
        number: segment.number, file: segment.file, mapped: false)
      entries.append(.init(segment: readable, endBlock: segment.endBlock))
    }
    return SegmentTable(entries)
  }

  /// Takes over the segments that another appender began, up to where `written` has their ends: the next footer publishes
  /// them. The next pages go to the end of the highest segment of both, so that they can refer to all before them.
  ///
  /// - Parameter other: It cannot be used afterwards.
  /// - Throws: `.limitExceeded`, `.full`, `.io`, `.poisoned`.
  func takeOver(_ other: PageAppender, upTo written: SegmentTable) throws(StoreError) {
    try writeOut()
    let last = open.last?.number ?? 0
    var left = other.begun
    other.begun.removeAll()
    for var segment in other.open {
      guard let entry = written.entry(segment.number), entry.endBlock > segment.firstBlock else {
        continue
      }
      left.removeAll { $0 == segment.number }
      begun.append(segment.number)
      segment.endBlock = entry.endBlock
      segment.firstUnreadable = entry.endBlock
      open.append(segment)
    }
    open = open.sortedRarely { $0.number < $1.number }
    // Begun by a write that failed.
    for number in left { unlink(number) }
    // Where a write failed, nobody knows what is there.
    let mustBegin = other.isBroken && open.last?.number != last
    other.isBroken = true
    if mustBegin { try begin() }
  }

  /// Writes out the buffer and forces all of it to the disk.
  func sync() throws(StoreError) {
    try writeOut()
    try finishWriting()
    for index in open.indices where !open[index].isSynced {
      isBroken = true
      try open[index].file.sync(at: .pageSync)
      isBroken = false
      open[index].isSynced = true
    }
  }

  /// Appends `footer` twice and forces everything to the disk. The appended pages are then published. Segments that
  /// are begun later are larger if the store has become large.
  ///
  /// The pages it names are synced before it, so a footer that can be read names nothing that
  /// cannot. The footer itself is in no extent, neither of this publication nor of the next.
  ///
  /// - Throws: `.unsound` if the code that opens stores would refuse it; `.limitExceeded`, `.full`, `.io`, `.poisoned`.
  func publish(_ footer: Footer) throws(StoreError) -> FooterReference {
    try publish(footer, isChecked: true)
  }

  /// - Parameter isChecked: False to publish whatever the footer says.
  func publish(_ footer: Footer, isChecked: Bool) throws(StoreError) -> FooterReference {
    try sync()
    let sections = try footer.encodedSections()
    let size = Footer.fixedSize + sections.count
    try makeRoom(blocks: 2 * ((size + Layout.blockSize - 1) / Layout.blockSize))
    let first = try append(footer, sections, isChecked: isChecked)
    let copy = try append(footer, sections, isChecked: isChecked)
    try sync()
    keepLast()
    // A smaller size was asked for: it stays.
    if segmentBlocks >= Layout.usualSegmentBlocks {
      segmentBlocks = Layout.segmentBlocks(inStoreOf: footer.blockCount)
    }
    return FooterReference(
      position: first.position, blocks: first.blocks, checksum: first.checksum,
      copyChecksum: copy.checksum, coveredSequence: footer.coveredSequence)
  }

  private func append(
    _ footer: Footer, _ sections: [UInt8], isChecked: Bool
  ) throws(StoreError) -> PageReference {
    let size = Footer.fixedSize + sections.count
    let blocks = (size + Layout.blockSize - 1) / Layout.blockSize
    let reference = try draft(.footer, blocks: blocks) { page in
      footer.encode(sections, to: &page)
      return size
    }
    if isChecked {
      let fault = PublicationCheck.fault(
        of: footer, in: draft.bytes.part(0, reference.size), at: reference.position)
      if let fault { throw fault }
    }
    take(reference)
    return reference
  }
}

// MARK: - Writing after

extension PageAppender {
  /// Has pages written out on another thread, while the next are made. The caller that begins it must end it.
  ///
  /// - Parameter isShared: True if others wait for the disk meanwhile; is asked on that thread.
  func beginWritingBehind(isShared: @escaping @Sendable () -> Bool) {
    if behind == nil {
      behind = WriteBehind(bufferSize: bufferSize, isShared: isShared)
    }
  }

  /// Returns when nothing is being written. After a failure the appender is of no more use.
  func endWritingBehind() {
    guard let behind else { return }
    do throws(StoreError) { try finishWriting() } catch { isBroken = true }
    behind.end()
    self.behind = nil
  }
}

// MARK: - Steps

extension PageAppender {
  /// Sees to it that the next `blocks` blocks go to one segment and into the buffer.
  private func makeRoom(blocks: Int) throws(StoreError) {
    try checkWhole()
    if buffer.count < bufferSize { buffer = AlignedBuffer(count: bufferSize) }
    if waiting + blocks * Layout.blockSize > buffer.count { try writeOut() }
    if let last = open.last, Int(last.endBlock) + blocks <= segmentBlocks { return }
    try writeOut()
    try begin()
  }

  private func checkWhole() throws(StoreError) {
    if isBroken { throw .poisoned(path: medium.path) }
  }

  private func writeOut() throws(StoreError) {
    try checkWhole()
    guard waiting > 0, let last = open.last else { return }
    let offset = Int(last.endBlock) * Layout.blockSize - waiting
    isBroken = true
    if let behind {
      try behind.write(&buffer, count: waiting, to: last.file, from: offset)
    } else {
      try last.file.write(buffer, 0..<waiting, from: offset)
    }
    isBroken = false
    waiting = 0
  }

  /// Waits for the write under way.
  private func finishWriting() throws(StoreError) {
    guard let behind else { return }
    isBroken = true
    try behind.finish()
    isBroken = false
  }

  private func keepLast() {
    replaced = ReplacedPages()
    open.removeFirst(max(0, open.count - 1))
    if !open.isEmpty {
      open[0].firstBlock = open[0].endBlock
      open[0].firstUnreadable = open[0].endBlock
    }
  }

  private func goOn(behind reference: FooterReference) throws(StoreError) {
    let number = reference.position.segment
    let end = reference.position.block + 2 * UInt32(reference.blocks)
    let file = try medium.open(
      .pages(number), output == .direct ? .readWriteDirect : .readWrite, at: .segmentOpen)
    guard try file.size(at: .segmentOpen) == Int(end) * Layout.blockSize else { return }
    let header = try PageSegment.header(of: file, number: number, expected: identity, in: medium)
    guard header.features.access == .writing else { return }
    open = [Open(number, file, end: end)]
    settle()
  }

  /// Makes the next segment. It gets its name once its header is on the disk, so a file with a
  /// segment's name always has one.
  private func begin() throws(StoreError) {
    // Whatever comes of it, this number is not tried again.
    let number = try numbers.take()
    isBroken = true
    if lifetime == .temporary { return try beginTemporary(number) }
    begun.append(number)
    let name = FileName.pages(number)
    let file = try medium.open(
      name.temporary, output == .direct ? .createDirect : .create, at: .segmentCreate)
    try file.write(
      SegmentHeader(identity: identity, number: number), at: .segmentHeaderWrite)
    try file.sync(at: .segmentHeaderSync)
    try medium.rename(name.temporary, to: name, at: .segmentRename)
    try medium.syncDirectory(at: .segmentDirectorySync)
    isBroken = false
    open.append(Open(number, file, end: 1))
  }

  /// Makes a segment without a name. No other process will open it, so it has no header.
  private func beginTemporary(_ number: UInt32) throws(StoreError) {
    let name = FileName.pages(number).temporary
    let file = try medium.open(
      name, output == .direct ? .createDirect : .create, at: .runCreate)
    try medium.unlink(name, at: .runUnlink)
    isBroken = false
    open.append(Open(number, file, end: 1))
  }
}
