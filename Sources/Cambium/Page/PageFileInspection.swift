/// Footer and segments of one published state, read in spite of faults, so that all can be named.
///
/// Opening stops at the first fault and does not look at parts that it does not need, such as the copy of a
/// footer that is whole. Here a segment whose header is damaged is read nevertheless: its pages have
/// checksums of their own.
struct PageFileInspection {
  private let medium: any FileSystem
  /// Nil until a header has said it.
  private var identity: StoreIdentity?
  /// Everything wrong with the footer's copies and the segments, each once.
  private(set) var faults: [StoreError] = []
  /// The first copy of the footer that can be read; nil if none can.
  private(set) var footer: Footer?
  /// Reads the segments that the footer refers to, as far as it is there; nil without a footer.
  private(set) var pages: PageReader?

  /// Looks at the state that `reference` publishes. Without `identity` the headers say which store it is.
  init(of reference: FooterReference, of identity: StoreIdentity?, in medium: any FileSystem) {
    self.medium = medium
    self.identity = identity
    guard let segment = inspect(reference.position.segment, blocks: 0) else { return }
    readFooter(reference, from: [segment])
    guard let footer else { return }
    var entries: [SegmentTable.Entry] = []
    for extent in footer.segments where extent.kind == .pages {
      if var entry = inspect(extent.number, blocks: UInt32(clamping: extent.end)) {
        entry.endBlock = min(entry.endBlock, UInt32(clamping: extent.end))
        entries.append(entry)
      }
    }
    pages = reader(of: entries)
  }

  private mutating func note(_ fault: StoreError) {
    if !faults.contains(fault) { faults.append(fault) }
  }

  private func reader(of entries: [SegmentTable.Entry]) -> PageReader? {
    identity.map {
      PageReader(
        medium: medium, identity: $0, segments: SegmentTable(entries),
        cache: PageCache(capacity: 0))
    }
  }
}

// MARK: Footer

extension PageFileInspection {
  private mutating func readFooter(
    _ reference: FooterReference, from entries: [SegmentTable.Entry]
  ) {
    guard let reader = reader(of: entries) else { return }
    for copy in reference.copies {
      do throws(StoreError) {
        let found = try PageFile.footer(at: copy, of: reference, from: reader)
        if footer == nil { footer = found }
        guard footer == found else {
          throw .corrupt(
            .page(copy.position), invariant: .footerSections,
            reason: "it does not say what the copy before it says")
        }
      } catch {
        note(error)
      }
    }
  }
}

// MARK: Segments

extension PageFileInspection {
  /// All that is there of a segment, of which `blocks` should be; nil if nothing can be read.
  private mutating func inspect(
    _ number: UInt32, blocks: UInt32
  ) -> SegmentTable.Entry? {
    do throws(StoreError) {
      let file = try medium.open(.pages(number), .read, at: .segmentOpen)
      try inspectHeader(of: file, number: number)
      let size = try file.size(at: .segmentOpen)
      do throws(StoreError) {
        try PageSegment.check(size: size, holds: blocks, number: number)
      } catch {
        note(error)
      }
      return .init(
        segment: try PageSegment(number: number, file: file, mapped: false),
        endBlock: UInt32(min(size / Layout.blockSize, Layout.segmentBlocksMax)))
    } catch {
      note(error)
      return nil
    }
  }

  /// Notes the fault of a header; throws only if the pages cannot be understood.
  private mutating func inspectHeader(
    of file: any File, number: UInt32
  ) throws(StoreError) {
    do throws(StoreError) {
      identity = try PageSegment.identity(
        of: file, number: number, expected: identity, in: medium)
    } catch {
      if case .newerFormat = error { throw error }
      note(error)
    }
  }
}
