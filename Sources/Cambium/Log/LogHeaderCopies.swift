/// The two copies of a log file's header as they were found: each whole, or what is wrong with it.
///
/// A header is written to copy 0, flushed, and then to copy 1, so no crash damages both, and of two
/// whole copies the one of the higher use is the newer.
struct LogHeaderCopies: Sendable {
  let copies: [Result<LogHeader, StoreError>]

  /// The header that counts: the whole one of the highest use.
  ///
  /// - Throws: `.newerFormat` if a newer version wrote one; `.corrupt` if both are damaged, or say
  ///   different things of one use.
  func newest() throws(StoreError) -> LogHeader {
    for case .failure(.newerFormat(let path, let reason)) in copies {
      throw .newerFormat(path: path, reason: reason)
    }
    let whole = copies.compactMap { try? $0.get() }
    guard let newest = whole.max(by: { $0.number < $1.number }) else { throw faults[0] }
    guard whole.allSatisfy({ $0.number != newest.number || $0 == newest }) else {
      throw .corrupt(
        .log(file: newest.file, block: LogLayout.copyBlocks[1]), invariant: .logHeader,
        reason: "it does not say what the first copy says")
    }
    return newest
  }

  /// What is wrong with the copies that cannot be read.
  var faults: [StoreError] {
    copies.compactMap { copy in
      if case .failure(let fault) = copy { fault } else { nil }
    }
  }

  /// Whether copy `index` is whole and says what `header` does.
  func holds(_ header: LogHeader, at index: Int) -> Bool {
    (try? copies[index].get()) == header
  }
}
