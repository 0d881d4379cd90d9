/// Nodes in the order they were put there. Without the cost of an array in a class.
@safe struct NodeStack: ~Copyable {
  private var nodes: UnsafeMutablePointer<OverlayNode>
  private var capacity = 64
  private(set) var count = 0

  init() {
    unsafe nodes = .allocate(capacity: capacity)
  }

  deinit {
    unsafe nodes.deallocate()
  }

  subscript(_ index: Int) -> OverlayNode {
    get {
      precondition(index >= 0 && index < count, "outside the stack")
      return unsafe nodes[index]
    }
    set {
      precondition(index >= 0 && index < count, "outside the stack")
      unsafe nodes[index] = newValue
    }
  }

  @inline(__always)
  mutating func append(_ node: OverlayNode) {
    if count == capacity { grow() }
    unsafe (nodes + count).initialize(to: node)
    count &+= 1
  }

  mutating func removeLast() -> OverlayNode {
    precondition(count > 0, "the stack is empty")
    count -= 1
    return unsafe nodes[count]
  }

  mutating func cut(to count: Int) {
    precondition(count <= self.count, "the stack has no more")
    self.count = count
  }

  @inline(never)
  private mutating func grow() {
    let larger = UnsafeMutablePointer<OverlayNode>.allocate(capacity: 2 * capacity)
    unsafe larger.initialize(from: nodes, count: count)
    unsafe nodes.deallocate()
    unsafe nodes = larger
    capacity *= 2
  }
}
