/// The files of a store's log, open, and which of them is in use.
///
/// A use becomes true by its header, so the file in use is the one whose header has the highest number. It may need uses
/// right before its own, in other files. The rest is free: what it holds no longer counts.
struct LogFiles: Sendable {
  struct OpenFile: Sendable {
    let file: any File
    /// What the file has, but no more than a use may take.
    let blocks: UInt32
    let copies: LogHeaderCopies
    let header: LogHeader
  }

  let medium: any FileSystem
  /// By number.
  let files: [OpenFile]
  /// The number of the file in use.
  let inUse: Int

  /// The header of the file in use.
  var header: LogHeader { files[inUse].header }
  var identity: StoreIdentity { header.identity }
  /// What is wrong with copies of headers that were not needed: the other copy is whole. A use that
  /// began and did not become true leaves such a copy behind.
  var faults: [StoreError] { files.flatMap(\.copies.faults) }

  /// Opens all files and reads their headers.
  ///
  /// A process that only reads may see headers change under it, so what looks damaged is read again and
  /// believed when it looks the same twice.
  ///
  /// - Parameters:
  ///   - writing: Whether the log is to be recovered, and so written to.
  ///   - identity: The store it must belong to, if that is known.
  /// - Throws: `.missing` without a `log-0`, and so without a store, or without a `log-1`;
  ///   `.newerFormat`, `.corrupt`, `.io`.
  init(
    opening medium: any FileSystem, writing: Bool, of identity: StoreIdentity? = nil
  ) throws(StoreError) {
    self = try Self.reading(after: [], writing: writing, of: identity, in: medium)
    if writing, header.features.access != .writing {
      throw .newerFormat(
        path: medium.path, reason: "its log has features this program cannot write")
    }
  }

  /// The headers, read until they are whole or look damaged in the same way twice.
  ///
  /// - Parameter first: The files that are open, and cannot have been replaced by others of the same names.
  private static func reading(
    after first: [any File], writing: Bool, of identity: StoreIdentity?, in medium: any FileSystem
  ) throws(StoreError) -> LogFiles {
    var last: StoreError?
    while true {
      do throws(StoreError) {
        let handles = try handles(in: medium, writing: writing, after: first)
        return try LogFiles(reading: handles, of: identity, in: medium)
      } catch {
        guard case .corrupt = error, error != last else { throw error }
        last = error
      }
    }
  }

  /// Opens the files whose numbers follow those of `first`, up to the first that does not exist.
  private static func handles(
    in medium: any FileSystem, writing: Bool, after first: [any File]
  ) throws(StoreError) -> [any File] {
    var handles = first
    while handles.count < LogLayout.filesMax {
      let number = UInt32(handles.count)
      do throws(StoreError) {
        handles.append(
          try medium.open(.log(number), writing ? .readWriteDirect : .read, at: .logOpen))
      } catch {
        guard case .missing = error, !LogLayout.fileNumbers.contains(number) else { throw error }
        break
      }
    }
    return handles
  }

  private init(
    reading handles: [any File], of identity: StoreIdentity?, in medium: any FileSystem
  ) throws(StoreError) {
    var files: [OpenFile] = []
    for (number, file) in handles.enumerated() {
      files.append(try Self.read(file, number: UInt32(number), in: medium))
    }
    self.medium = medium
    self.files = files
    inUse = try Self.inUse(files.map(\.header))
    for file in files where file.header.identity != identity ?? files[0].header.identity {
      throw .corrupt(
        .log(file: max(1, file.header.file), block: 0), invariant: .logHeader,
        reason: "it belongs to another store")
    }
    try files[inUse].checkSize()
  }

  /// Returns the file of the highest use that can be read, for a log that cannot be opened as a whole; nil if no file can.
  ///
  /// - Parameter note: Called with what is wrong with a file.
  static func left(
    in medium: any FileSystem, note: (StoreError) -> Void
  ) -> LogFiles? {
    var left: [OpenFile] = []
    for number in 0..<UInt32(LogLayout.filesMax) {
      do throws(StoreError) {
        let file = try medium.open(.log(number), .read, at: .logOpen)
        left.append(try read(file, number: number, in: medium))
      } catch {
        if case .missing = error, !LogLayout.fileNumbers.contains(number) { break }
        note(error)
      }
    }
    let newest = left.indices.max { left[$0].header.number < left[$1].header.number }
    return newest.map { LogFiles(left, inUse: $0, in: medium) }
  }

  private init(_ files: [OpenFile], inUse: Int, in medium: any FileSystem) {
    self.medium = medium
    self.files = files
    self.inUse = inUse
  }

  private static func read(
    _ file: any File, number: UInt32, in medium: any FileSystem
  ) throws(StoreError) -> OpenFile {
    var copies: [Result<LogHeader, StoreError>] = []
    var block = AlignedBuffer(count: Layout.blockSize)
    for (copy, place) in LogLayout.copyBlocks.enumerated() {
      var span = block.mutableBytes(0..<Layout.blockSize)
      let count = try file.read(into: &span, from: Int(place) * Layout.blockSize, at: .logRead)
      do throws(StoreError) {
        copies.append(
          .success(
            try LogHeader(
              decoding: block.bytes.part(0, count), file: number, copy: copy, path: medium.path)))
      } catch {
        copies.append(.failure(error))
      }
    }
    let found = LogHeaderCopies(copies: copies)
    let size = try file.size(at: .logOpen)
    return OpenFile(
      file: file, blocks: UInt32(min(size / Layout.blockSize, LogLayout.blocksMax)), copies: found,
      header: try found.newest())
  }

  /// Which file is in use, by the headers of all.
  static func inUse(_ headers: [LogHeader]) throws(StoreError) -> Int {
    let order = headers.indices.sorted { headers[$0].number > headers[$1].number }
    let inUse = order[0]
    let newest = headers[inUse]
    func fault(_ reason: String) -> StoreError {
      .corrupt(.log(file: UInt32(inUse), block: 0), invariant: .logUses, reason: reason)
    }
    // The file of the use before is not begun again before the next use is true. Anything else is files that do not
    // belong together.
    let count = max(1, Int(clamping: newest.earlierUses))
    guard count < headers.count else {
      throw fault("it needs \(newest.earlierUses) uses before it, of \(headers.count) files")
    }
    var later = newest
    for index in order[1...count] {
      let header = headers[index]
      guard later.number - header.number == 1 else {
        throw fault(
          "it is use \(newest.number), and before use \(later.number) comes use \(header.number)")
      }
      guard later.epoch >= header.epoch else {
        throw fault(
          "use \(later.number) is of epoch \(later.epoch), after one of epoch \(header.epoch)")
      }
      later = header
    }
    return inUse
  }

  /// The files as they are now: there may be more of them, or fewer, and with other headers.
  ///
  /// - Throws: as `init`.
  func again() throws(StoreError) -> LogFiles {
    let first = files.prefix(LogLayout.fileNumbers.count).map(\.file)
    return try Self.reading(after: first, writing: false, of: identity, in: medium)
  }

  /// Whether the log has gone on to another use since these headers were read.
  ///
  /// - Throws: as `init`.
  func isSuperseded() throws(StoreError) -> Bool { try again().header.number > header.number }

  /// Whether the use is known to be on the medium: the second copy of its header is written when the first
  /// was flushed. The first use had both before the file got its name.
  var isKnownFlushed: Bool { header.number <= 1 || files[inUse].copies.holds(header, at: 1) }

  /// The use before this one, which stays as it is until this one is on the medium.
  ///
  /// - Precondition: this is not the first.
  var useBefore: LogFiles {
    precondition(header.number > 1, "there is none before the first")
    return LogFiles(files, inUse: file(ofUse: header.number - 1) ?? inUse, in: medium)
  }
}

// MARK: Which uses are needed

extension LogFiles {
  /// The file of a use; nil if no file holds it.
  func file(ofUse number: UInt64) -> Int? {
    files.firstIndex { $0.header.number == number }
  }

  /// The files of the uses that hold what `footer` does not cover, oldest first. The last is the one in use.
  ///
  /// - Throws: `.corrupt` if one of them is not there (L9), or not all of it (L3).
  func uses(after footer: FooterReference) throws(StoreError) -> [Int] {
    let uses = usesFound(after: footer)
    let first = uses.first.map { files[$0].header } ?? header
    if first.start <= footer.coveredSequence { return uses }
    if first.earlierUses > 0, let before = file(ofUse: first.number - 1) {
      try files[before].checkSize()
    }
    throw .corrupt(
      .log(file: first.file, block: 0), invariant: .logChain,
      reason:
        "use \(first.number) goes on after sequence \(first.start), and nothing leads there"
        + " from \(footer.coveredSequence)")
  }

  /// Those of these uses that are whole, up to the first that is not.
  private func usesFound(after footer: FooterReference) -> [Int] {
    var uses = [inUse]
    var first = header
    while first.start > footer.coveredSequence, first.earlierUses > 0,
      let before = file(ofUse: first.number - 1), files[before].isWhole
    {
      uses.append(before)
      first = files[before].header
    }
    return uses.reversed()
  }

  /// The file that the next use is begun in: the largest that holds nothing that is needed.
  ///
  /// - Parameter footer: The newest one that is known to be on the disk. There may be a newer one, by which older files were
  ///   freed and cut: these are not needed.
  /// - Returns: nil if all files are needed.
  func spare(after footer: FooterReference) -> Int? {
    let needed = usesFound(after: footer)
    return LogRing.largest(
      of: files.indices.filter { !needed.contains($0) },
      sizes: files.map(\.blocks), uses: files.map(\.header.number))
  }
}

extension LogFiles.OpenFile {
  /// False if the file was cut since its use began.
  fileprivate var isWhole: Bool { header.blocks <= blocks }

  fileprivate func checkSize() throws(StoreError) {
    guard isWhole else {
      throw .corrupt(
        .log(file: header.file, block: blocks), invariant: .logEnd,
        reason: "\(blocks) blocks are there, the header says \(header.blocks)")
    }
  }
}
