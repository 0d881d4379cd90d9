/// Which subtrees of the base a merge may take over by reference where no operation falls into them.
enum Adoption: Hashable, Sendable {
  /// All of them.
  case all
  /// None: everything is written anew.
  case none
  /// Those without a page in one segment, so that afterwards nothing refers to it.
  case outside(segment: UInt32)

  /// Whether what `reference` leads to may stay as it is.
  ///
  /// A child lies before its parent, so nothing below a page lies in a higher segment than it. That
  /// decides for all segments below the victim; above it a page without pages below it is known to be
  /// elsewhere, and any other is looked into.
  func allows(_ reference: PageReference, hasPagesBelow: Bool) -> Bool {
    switch self {
    case .all: true
    case .none: false
    case .outside(let victim):
      reference.position.segment < victim
        || (reference.position.segment != victim && !hasPagesBelow)
    }
  }
}
