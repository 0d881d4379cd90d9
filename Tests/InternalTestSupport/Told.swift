/// An iterator that can be asked within an expectation.
final class Told<Changes: AsyncSequence> {
  private var iterator: Changes.AsyncIterator

  init(by changes: Changes) { iterator = changes.makeAsyncIterator() }

  func next() async throws -> Changes.Element? {
    var iterator = iterator
    defer { self.iterator = iterator }
    return try await iterator.next()
  }
}
