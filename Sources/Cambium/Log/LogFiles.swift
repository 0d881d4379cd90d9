/// Both files of a store's log, open, and which of them is in use.
///
/// A use becomes true by its header, so the file in use is the one whose header has the higher number. The
/// other is the spare: what it holds no longer counts.
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

  /// Opens both files and reads their headers.
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
    var handles: [any File] = []
    for number in LogLayout.fileNumbers {
      handles.append(
        try medium.open(.log(number), writing ? .readWriteDirect : .read, at: .logOpen))
    }
    self = try Self.reading(handles, of: identity, in: medium)
    if writing, header.features.access != .writing {
      throw .newerFormat(
        path: medium.path, reason: "its log has features this program cannot write")
    }
  }

  /// The headers, read until they are whole or look damaged in the same way twice.
  private static func reading(
    _ handles: [any File], of identity: StoreIdentity?, in medium: any FileSystem
  ) throws(StoreError) -> LogFiles {
    var last: StoreError?
    while true {
      do throws(StoreError) {
        return try LogFiles(reading: handles, of: identity, in: medium)
      } catch {
        guard case .corrupt = error, error != last else { throw error }
        last = error
      }
    }
  }

  private init(
    reading handles: [any File], of identity: StoreIdentity?, in medium: any FileSystem
  ) throws(StoreError) {
    var files: [OpenFile] = []
    for (number, file) in zip(LogLayout.fileNumbers, handles) {
      files.append(try Self.read(file, number: number, in: medium))
    }
    self.medium = medium
    self.files = files
    inUse = try Self.inUse(files.map(\.header))
    guard files.allSatisfy({ $0.header.identity == identity ?? files[0].header.identity }) else {
      throw .corrupt(
        .log(file: 1, block: 0), invariant: .logHeader, reason: "it belongs to another store")
    }
    guard header.blocks <= files[inUse].blocks else {
      throw .corrupt(
        .log(file: header.file, block: files[inUse].blocks), invariant: .logEnd,
        reason: "\(files[inUse].blocks) blocks are there, the header says \(header.blocks)")
    }
  }

  /// Returns the file of the highest use that can be read, for a log that cannot be opened as a whole; nil if neither file can.
  ///
  /// - Parameter note: Called with what is wrong with a file.
  static func left(
    in medium: any FileSystem, note: (StoreError) -> Void
  ) -> LogFiles? {
    var left: [OpenFile] = []
    for number in LogLayout.fileNumbers {
      do throws(StoreError) {
        let file = try medium.open(.log(number), .read, at: .logOpen)
        left.append(try read(file, number: number, in: medium))
      } catch { note(error) }
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

  /// Which file is in use, by the headers of both.
  static func inUse(_ headers: [LogHeader]) throws(StoreError) -> Int {
    let inUse = headers[0].number > headers[1].number ? 0 : 1
    let (newer, older) = (headers[inUse], headers[1 - inUse])
    func fault(_ reason: String) -> StoreError {
      .corrupt(.log(file: UInt32(inUse), block: 0), invariant: .logUses, reason: reason)
    }
    // Both were begun in turn, always; anything else is two files that do not belong together.
    guard newer.number - older.number == 1 else {
      throw fault("it is use \(newer.number), and the other file is use \(older.number)")
    }
    guard newer.epoch >= older.epoch else {
      throw fault("it is of epoch \(newer.epoch), after one of epoch \(older.epoch)")
    }
    return inUse
  }

  /// The same files with the headers that they have now.
  ///
  /// - Throws: as `init`.
  func again() throws(StoreError) -> LogFiles {
    try Self.reading(files.map(\.file), of: identity, in: medium)
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
    return LogFiles(files, inUse: 1 - inUse, in: medium)
  }
}
