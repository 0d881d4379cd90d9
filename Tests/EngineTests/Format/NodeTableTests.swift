import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The byte tables of nodes against nodes with all their parts and with none.
@Suite struct NodeTableTests {
  private let document: FormatDocument

  init() throws {
    document = try FormatDocument()
  }

  @Test func `a leaf where everything varies is laid out as the tables say`() throws {
    let external = BuiltNode.encodedReference()
    let node = BuiltNode(
      [
        .init(key: Bytes("pre".utf8), value: [1]),
        .init(key: Bytes("pre12345678tail".utf8), value: external, isExternal: true),
      ], schemaVersion: 0x4443_4241)
    try verify(
      node, kind: 1, widths: [0xffff, 0xffff], headLength: 255, schemaVersion: 0x4443_4241,
      parts: [
        "prefix": Bytes("pre".utf8) + little(0, 5),
        "heads": little(0, 8) + Bytes("87654321".utf8), "references": [],
        "cell ends": [1, 0, 37, 0], "tail lengths": [0, 0, 4, 0], "head lengths": [0, 8],
        "externals": [0b10], "cells": [1] + Bytes("tail".utf8) + external,
      ])
  }

  @Test func `a leaf where nothing varies is laid out as the tables say`() throws {
    let node = BuiltNode(
      [
        .init(key: Bytes("a234567890".utf8), value: [1, 2, 3]),
        .init(key: Bytes("b234567891".utf8), value: [4, 5, 6]),
      ])
    try verify(
      node, kind: 1, widths: [2, 3], headLength: 8, schemaVersion: 1,
      parts: [
        "prefix": [], "heads": Bytes("8765432a8765432b".utf8), "references": [], "cell ends": [],
        "tail lengths": [], "head lengths": [], "externals": [],
        "cells": Bytes("90".utf8) + [1, 2, 3] + Bytes("91".utf8) + [4, 5, 6],
      ])
  }

  @Test func `a branch is laid out as the tables say`() throws {
    let children = [1, 2, 3].map { BuiltNode.encodedReference($0) }
    let keys = ["", "a", "b2345678-"].map { Bytes($0.utf8) }
    let node = BuiltNode(
      zip(keys, children).map { .init(key: $0, value: $1) }, isBranch: true, schemaVersion: 0)
    try verify(
      node, kind: 2, widths: [0xffff, 0], headLength: 255, schemaVersion: 0,
      parts: [
        "prefix": [], "heads": little(0x61, 8).reversed() + Bytes("8765432b".utf8),
        "references": children.flatMap { $0 }, "cell ends": [0, 0, 1, 0], "tail lengths": [],
        "head lengths": [1, 8], "externals": [], "cells": Bytes("-".utf8),
      ])
  }

  private func verify(
    _ node: BuiltNode, kind: UInt8, widths: [UInt64], headLength: UInt8, schemaVersion: UInt64,
    parts: KeyValuePairs<String, Bytes>
  ) throws {
    let bytes = node.bytes
    let prefixLength = parts[0].value.prefix { $0 != 0 }.count
    let cellsOffset = 48 + parts.dropLast().reduce(0) { $0 + $1.value.count }
    try ByteTable("Node header", in: document).verify(
      Bytes(bytes.prefix(Node.headerSize)),
      [
        "page header": Bytes(bytes.prefix(24)), "count": little(UInt64(node.keys.count), 2),
        "prefix length": little(UInt64(prefixLength), 2), "tail width": little(widths[0], 2),
        "value width": little(widths[1], 2), "head length": [headLength], "reserved": [0],
        "cells offset": little(UInt64(cellsOffset), 2),
        "schema version": little(schemaVersion, 4), "used": little(UInt64(node.used), 4),
        "tree": little(UInt64(TreeTag(of: "r7").rawValue), 4),
      ])
    #expect(bytes[8] == kind)
    try ByteTable("Node parts", in: document).verify(
      Bytes(bytes.prefix(node.used)), from: Node.headerSize, parts)
  }
}
