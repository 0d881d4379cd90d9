extension Sequence {
  /// The elements in order, for sequences that are small or rarely sorted.
  ///
  /// The standard library's sort is compiled again for every type and every order, and seventy of them were a
  /// twentieth of the library. This one is compiled once, and slower: it asks its arguments for everything.
  @inline(never)
  @_semantics("optimize.sil.specialize.generic.never")
  func sortedRarely(by precedes: (Element, Element) -> Bool) -> [Element] {
    sorted(by: precedes)
  }
}

extension Sequence where Element: Comparable {
  /// The elements ascending, for sequences that are small or rarely sorted.
  @inline(never)
  @_semantics("optimize.sil.specialize.generic.never")
  func sortedRarely() -> [Element] { sorted() }
}
