/// The log of a damaged store, as far as it can be read.
struct SalvagedLog {
  private let files: LogFiles
  /// The newest footer that it names.
  let footer: FooterReference
  /// The last commit that it leads to.
  let sequence: UInt64
  /// True if it is the log that counts, up to its end: then no footer is true but the one that it names.
  let isWhole: Bool
  /// The part of the log that could not be read.
  let remains: LogRemains
  /// True if that was flushed.
  let wasFlushed: Bool

  var identity: StoreIdentity { files.identity }
  /// Which use it is.
  var use: UInt64 { files.header.number }

  /// - Parameter note: Called with each fault of the log.
  /// - Returns: nil if none of its files can be read.
  init?(of medium: any FileSystem, note: (StoreError) -> Void) {
    var isWhole = true
    let files: LogFiles
    do throws(StoreError) {
      files = try LogFiles(opening: medium, writing: false)
    } catch {
      isWhole = false
      var faults: [StoreError] = []
      let left = LogFiles.left(in: medium) { faults.append($0) }
      for fault in faults.isEmpty ? [error] : faults { note(fault) }
      guard let left else { return nil }
      files = left
    }
    var reader = LogReader(files)
    var remains = LogRemains()
    var wasFlushed = false
    do throws(StoreError) {
      while try reader.next() != nil {}
      if case .torn? = reader.end { remains = reader.remains() }
    } catch {
      // Frames that were flushed after the damage are lost.
      isWhole = false
      wasFlushed = true
      note(error)
      remains = reader.remains()
    }
    footer = reader.position.footer
    var sequence = reader.position.lastSequence
    if let loss = LostUse(before: files, after: footer) {
      isWhole = false
      wasFlushed = true
      note(loss.fault)
      // What follows it cannot be carried out.
      let read = Int(reader.position.block) - LogLayout.firstFrameBlock
      remains.byteCount += loss.remains.byteCount + read * Layout.blockSize
      remains.lastSequence = max(remains.lastSequence, loss.remains.lastSequence, sequence)
      sequence = loss.sequence
    }
    self.files = files
    self.remains = remains
    self.wasFlushed = wasFlushed
    self.isWhole = isWhole
    self.sequence = sequence
  }

  /// Calls `body` with the changes of commits after a sequence, in order: the operations of one commit, or of all that
  /// an overlay stands for.
  ///
  /// - Throws: errors of `body`. Where the log cannot be read any further, it ends.
  func forEachCommit(
    after sequence: UInt64,
    _ body: (RawSpan, StoreError.CorruptPlace) throws(StoreError) -> Void
  ) throws(StoreError) {
    var reader: LogReader
    do throws(StoreError) {
      reader = try LogReader(files, after: footer)
    } catch {
      // What follows a use that is gone cannot be carried out.
      return
    }
    while let frame = try? reader.next() {
      switch frame.kind {
      case .overlay where frame.sequences.upperBound > sequence:
        try body(reader.payload, reader.place)
      case .commits:
        var commits = CommitReader(reader.payload, sequences: frame.sequences, at: reader.place)
        var next = frame.sequences.lowerBound
        while let operations = try commits.next() {
          if next > sequence { try body(operations, reader.place) }
          next += 1
        }
      default: break
      }
    }
  }
}

/// What is lost if a use cannot be read whole that the log needs before the one that it is in.
private struct LostUse {
  let fault: StoreError
  /// The last commit before it.
  let sequence: UInt64
  let remains: LogRemains

  /// - Returns: nil if all of them are whole.
  init?(before files: LogFiles, after footer: FooterReference) {
    guard files.header.start > footer.coveredSequence else { return nil }
    var reader: LogReader
    do throws(StoreError) {
      reader = try LogReader(files, after: footer)
    } catch {
      (fault, sequence, remains) = (error, footer.coveredSequence, LogRemains())
      return
    }
    do throws(StoreError) {
      while reader.position.use < files.header.number, try reader.next() != nil {}
      return nil
    } catch {
      // Damage to the last use has been noted.
      if reader.position.use == files.header.number { return nil }
      fault = error
      sequence = reader.position.lastSequence
      remains = reader.remains()
    }
  }
}
