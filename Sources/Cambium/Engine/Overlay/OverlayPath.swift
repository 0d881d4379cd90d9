/// The way from a tree's root to a leaf: the branches, and which child it goes on with.
struct OverlayPath: BitwiseCopyable {
  struct Step: BitwiseCopyable {
    var node: OverlayNode
    var index: Int
  }

  /// Nobody gets deeper: a node has been full before it has a sibling, so even with the smallest nodes
  /// every level doubles the insertions below it.
  private var steps: InlineArray<24, Step?>
  private(set) var depth = 0

  @inline(__always)
  init() {
    steps = InlineArray(repeating: nil)
  }

  @inline(__always)
  subscript(_ depth: Int) -> Step {
    get {
      guard depth < self.depth, let step = steps[depth] else {
        preconditionFailure("the path does not go so deep")
      }
      return step
    }
    set { steps[depth] = newValue }
  }

  @inline(__always)
  mutating func append(_ node: OverlayNode, _ index: Int) {
    steps[depth] = Step(node: node, index: index)
    depth &+= 1
  }

  @inline(__always)
  mutating func cut(to depth: Int) { self.depth = depth }
}
