/// Memory for nodes: cut from slabs, given back, and given out again, the last first, so that what
/// is used next is still in the processor's cache.
@safe struct NodePool: ~Copyable {
  private static let slabSize = 256 << 10

  private let nodeSize: Int
  private var slabs: [UnsafeMutableRawPointer] = unsafe []
  /// What is not yet cut of the last slab.
  private var rest: UnsafeMutableRawPointer?
  private var restCount = 0
  private var free: OverlayNode?
  /// All nodes ever cut, and those of them that are free.
  private(set) var nodeCount = 0
  private(set) var freeCount = 0

  init(nodeSize: Int) {
    self.nodeSize = nodeSize
  }

  deinit {
    for index in unsafe slabs.indices { unsafe slabs[index].deallocate() }
  }

  /// Takes a node. Its contents are anything.
  @inline(__always)
  mutating func take() -> OverlayNode {
    guard let node = free else { return cut() }
    free = node.link
    freeCount &-= 1
    return node
  }

  @inline(__always)
  mutating func give(_ node: OverlayNode) {
    node.born = .none
    node.link = free
    free = node
    freeCount &+= 1
  }

  @inline(never)
  private mutating func cut() -> OverlayNode {
    if restCount < nodeSize {
      let slab = UnsafeMutableRawPointer.allocate(byteCount: Self.slabSize, alignment: 64)
      unsafe slabs.append(slab)
      unsafe rest = slab
      restCount = Self.slabSize
    }
    guard let place = unsafe rest else { preconditionFailure("a slab was just added") }
    unsafe rest = place + nodeSize
    restCount -= nodeSize
    nodeCount += 1
    return unsafe OverlayNode(place)
  }
}
