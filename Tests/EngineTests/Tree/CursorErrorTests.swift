import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct CursorErrorTests {
  /// A page that cannot be read for a moment, at every move to another leaf.
  @Test(arguments: [true, false])
  func `a cursor stands nowhere after an error, and skips nothing`(forwards: Bool) throws {
    var world = TreeWorld(
      on: InMemoryFileSystem(), sizes: tinyNodes, reading: .buffered(cacheSize: 0))
    var changes: [Bytes: Bytes?] = [:]
    for number in 0..<150 as Range<UInt8> { changes[[number]] = [number, 1, 2, 3, 4] }
    try world.merge(changes)
    let tree = try world.tree()
    let root = try #require(tree.root)
    #expect(root.level >= 2)
    let file = try world.medium.open(.pages(1), .readWrite, at: .test)
    var failures = 0
    for damaged in 1..<root.reference.endBlock {
      var cursor = Cursor(tree)
      var isOn = forwards ? try cursor.first() : try cursor.last()
      let offset = Int(damaged) * Layout.blockSize + 100
      let byte = try file.read(offset..<offset + 1)
      try file.write([byte[0] ^ 1], from: offset)
      var number = forwards ? 0 : 149
      do throws(StoreError) {
        while isOn {
          number += forwards ? 1 : -1
          isOn = forwards ? try cursor.next() : try cursor.previous()
        }
      } catch {
        failures += 1
        let isOnEntry = cursor.isOnEntry
        #expect(!isOnEntry)
      }
      try file.write(byte, from: offset)
      let isAgain = forwards ? try cursor.next() : try cursor.previous()
      #expect(!isAgain, "after an error at \(number)")
    }
    #expect(failures > 10)
  }
}
