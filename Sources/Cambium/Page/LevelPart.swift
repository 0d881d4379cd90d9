/// A part of a level.
enum LevelPart: UInt8, CaseIterable, Sendable {
  case added, replaced, removed

  /// What the name of its tree has behind that of the tree below: names ascend as the parts do, and follow that of the tree.
  fileprivate var suffix: String {
    switch self {
    case .added: "\u{1}+"
    case .replaced: "\u{1}="
    case .removed: "\u{1}~"
    }
  }

  /// The name of its tree in the catalog.
  func name(over tree: String) -> String { tree + suffix }

  /// The tree below and the part, if `name` is that of a part.
  static func parsing(_ name: String) -> (tree: String, part: LevelPart)? {
    guard let part = allCases.first(where: { name.hasSuffix($0.suffix) }) else { return nil }
    return (String(name.dropLast(part.suffix.count)), part)
  }

  /// The tree that `name` is a part over, or `name` itself.
  static func treeName(of name: String) -> String { parsing(name)?.tree ?? name }
}

/// The roots of the parts of a level.
struct LevelRoots: Equatable, Sendable {
  private var roots: [TreeRoot?] = [nil, nil, nil]

  subscript(_ part: LevelPart) -> TreeRoot? {
    get { roots[Int(part.rawValue)] }
    set { roots[Int(part.rawValue)] = newValue }
  }

  var isEmpty: Bool { roots.allSatisfy { $0 == nil } }
}
