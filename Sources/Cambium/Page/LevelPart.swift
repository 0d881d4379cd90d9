/// A part of a level.
enum LevelPart: UInt8, CaseIterable, Sendable {
  case added, replaced, removed

  /// The last byte of its tree's name. Names ascend as the parts do, and follow that of the tree below.
  fileprivate var sign: UInt8 {
    switch self {
    case .added: UInt8(ascii: "+")
    case .replaced: UInt8(ascii: "=")
    case .removed: UInt8(ascii: "~")
    }
  }

  /// The byte between the name of the tree below and the sign.
  private static var separator: UInt8 { 1 }

  /// The name of its tree in memory: in the catalog it is a layer of the tree below.
  func name(over tree: String) -> String {
    String(decoding: Array(tree.utf8) + [Self.separator, sign], as: UTF8.self)
  }

  /// The tree below and the part, if `name` is that of a part.
  ///
  /// - Complexity: O(1) for other names.
  static func parsing(_ name: String) -> (tree: String, part: LevelPart)? {
    let bytes = name.utf8
    guard let last = bytes.last, bytes.dropLast().last == separator,
      let part = allCases.first(where: { $0.sign == last })
    else { return nil }
    return (String(decoding: bytes.dropLast(2), as: UTF8.self), part)
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
