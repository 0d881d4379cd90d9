/// Asks for pages that went past the page cache shortly before they are read, in the order in which they were
/// appended.
///
/// So the medium is at work while pages are looked at, and what others ask of it meanwhile waits for little: a
/// commit that came behind a whole slice's pages waited for all of them.
struct AppendedReadAhead {
  /// How far ahead is asked; half of it at a time.
  private static var window: UInt32 { UInt32((512 << 10) / Layout.blockSize) }

  private let pages: PageReader
  private let appended: [AppendedBlocks]
  /// The part that was read last.
  private var place = 0
  /// Up to where was asked there.
  private var asked: UInt32 = 0

  init(of appended: [AppendedBlocks], in pages: PageReader) {
    self.appended = appended
    self.pages = pages
    asked = appended.first?.blocks.lowerBound ?? 0
  }

  /// Takes notice that a page is read next.
  mutating func willRead(_ reference: PageReference) {
    let position = reference.position
    // What is not read by way of the page cache is asked for by who reads it.
    guard pages.cache == nil, moves(to: position), position.block &+ Self.window / 2 >= asked
    else { return }
    let start = max(asked, position.block)
    let end = min(appended[place].endBlock, position.block &+ Self.window)
    guard start < end else { return }
    asked = end
    pages.willNeed(start..<end, of: position.segment)
  }

  /// Finds the part that a page is in; false if it is in none.
  private mutating func moves(to position: PagePosition) -> Bool {
    func isThere(_ place: Int) -> Bool {
      appended[place].number == position.segment && appended[place].blocks.contains(position.block)
    }
    if place < appended.count, isThere(place) { return true }
    guard let found = appended.indices.first(where: isThere) else { return false }
    place = found
    asked = appended[found].blocks.lowerBound
    return true
  }
}
