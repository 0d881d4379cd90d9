/// The names of the trees that migrations make, which take the places of others at the end: `m.0.r4` is the first, for `r4`.
enum MadeTree {
  private static let prefix = "m."

  static func name(_ number: Int, for tree: String) -> String { "\(prefix)\(number).\(tree)" }

  static func isName(_ tree: String) -> Bool { tree.hasPrefix(prefix) }

  /// Returns the tree whose place a tree is to take; nil if no migration made it.
  static func origin(of name: String) -> String? {
    guard isName(name), let end = name.dropFirst(prefix.count).firstIndex(of: ".") else {
      return nil
    }
    return String(name[name.index(after: end)...])
  }
}
