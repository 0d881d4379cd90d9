/// The roots of the parts of a level, and of their filter.
struct LevelRoots: Equatable, Sendable {
  var filter: TreeRoot?
  private var parts = [TreeRoot?](repeating: nil, count: LevelPart.allCases.count)

  subscript(_ part: LevelPart) -> TreeRoot? {
    get { parts[Int(part.rawValue)] }
    set { parts[Int(part.rawValue)] = newValue }
  }

  subscript(_ layer: LevelLayer) -> TreeRoot? {
    get {
      switch layer {
      case .filter: filter
      case .part(let part): self[part]
      }
    }
    set {
      switch layer {
      case .filter: filter = newValue
      case .part(let part): self[part] = newValue
      }
    }
  }

  /// True if there is no change.
  var isEmpty: Bool { parts.allSatisfy { $0 == nil } }
  /// Those that there are.
  var all: [TreeRoot] { ([filter] + parts).compactMap(\.self) }
}
