import FoundationEssentials
import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// Blobs written, synced, abandoned, copied and removed, on a medium that may fail or end anywhere.
///
/// What `sync` has returned for is acknowledged: whatever happens after that must not lose it.
final class BlobHistory {
  struct Acknowledged {
    let identity: BlobIdentity
    let place: BlobPlace
    let content: Bytes
  }

  static let seed = BlobWorld.seed

  let medium: SimulatedFileSystem
  private(set) var acknowledged: [Acknowledged] = []
  /// What was written and not synced: it may be there or not, but is never wrong.
  private(set) var unsynced: [Acknowledged] = []
  private var pins: [BlobPin] = []

  init(_ medium: SimulatedFileSystem) {
    self.medium = medium
  }

  static let small = Bytes.text(3000, seed: 1)
  static let large = Bytes.noise(30_000, seed: 2)
  static let framed = Bytes.text(270_000, seed: 3)

  /// Small buffers and segments, so that little writes much.
  func world(from number: UInt32 = 1) -> BlobWorld {
    BlobWorld(medium, from: number, segmentSize: 60_000, bufferSize: 8192)
  }

  /// Does what is written down here, or what a seed says.
  func run(_ seed: UInt64? = nil) throws(StoreError) {
    defer { pins = [] }
    if let seed { try runRandom(seed) } else { try runFixed() }
  }

  private func runFixed() throws(StoreError) {
    let world = world()
    let small = try write(Self.small, 1, in: world)
    try sync([small], in: world)
    let large = try write(Self.large, 2, in: world)
    try abandon(Self.large, 3, in: world)
    let framed = try write(Self.framed, 4, in: world)
    try sync([framed, large], in: world)
    let behind = try write(Self.small, 5, in: world)
    let copies = [try copy(small, in: world), try copy(large, in: world)]
    try sync(copies + [behind], in: world)
    try remove(small.place.segment, in: world)
    let last = try write(Self.large, 6, in: world)
    try sync([last], in: world)
  }

  private func runRandom(_ seed: UInt64) throws(StoreError) {
    let world = world()
    var generator = SplitMix64(seed: seed)
    for number in 1...24 as ClosedRange<UInt64> {
      let content = [Self.small, Self.large, Self.framed][Int(generator.next() % 3)]
      switch generator.next() % 8 {
      case 0, 1, 2: _ = try write(content, number, in: world)
      case 3: try abandon(content, number, in: world)
      case 4: if let blob = acknowledged.last { _ = try copy(blob, in: world) }
      case 5: try writeTwo(content, number, in: world)
      case 6: if let place = acknowledged.first?.place { try remove(place.segment, in: world) }
      default: break
      }
      if generator.next() % 3 == 0 {
        let count = Int(generator.next() % UInt64(unsynced.count + 1))
        try sync(Array(unsynced.shuffled(using: &generator).prefix(count)), in: world)
      }
    }
  }

  /// Two streams that take turns.
  private func writeTwo(
    _ content: Bytes, _ number: UInt64, in world: BlobWorld
  ) throws(StoreError) {
    let identities = [BlobIdentity.numbered(number), .numbered(100 + number)]
    let streams = identities.map { world.files.makeStream($0, .none) }
    for part in [content[..<1000], content[1000...]] {
      for stream in streams { try stream.append(Bytes(part).rawSpan) }
    }
    for stream in streams { _ = note(try stream.finish(), content) }
  }

  private func write(
    _ content: Bytes, _ number: UInt64, in world: BlobWorld
  ) throws(StoreError) -> Acknowledged {
    let written = try world.write(content, as: number)
    return note(written, content)
  }

  private func copy(
    _ blob: Acknowledged, in world: BlobWorld
  ) throws(StoreError) -> Acknowledged {
    let copied = try world.files.copy(blob.identity, from: blob.place)
    return note(copied, blob.content)
  }

  private func note(_ written: BlobContent, _ content: Bytes) -> Acknowledged {
    pins.append(written.pin)
    let blob = Acknowledged(
      identity: written.identity, place: written.place, content: content)
    unsynced.append(blob)
    return blob
  }

  private func abandon(
    _ content: Bytes, _ number: UInt64, in world: BlobWorld
  ) throws(StoreError) {
    let stream = world.files.makeStream(.numbered(number), .standard)
    try stream.append(content.rawSpan)
    stream.abandon()
  }

  private func sync(
    _ blobs: [Acknowledged], in world: BlobWorld
  ) throws(StoreError) {
    try world.files.sync(blobs.map(\.place))
    acknowledged += blobs
    unsynced.removeAll { blob in blobs.contains { $0.place == blob.place } }
  }

  /// As the store does when no map that counts leads to the segment any more.
  private func remove(
    _ number: UInt32, in world: BlobWorld
  ) throws(StoreError) {
    pins.removeAll { $0.segment == number }
    guard world.files.retire(number) else { return }
    acknowledged.removeAll { $0.place.segment == number }
    unsynced.removeAll { $0.place.segment == number }
    try world.files.remove(number)
  }
}

extension BlobHistory {
  /// What is wrong with what a medium has; nil if nothing is.
  ///
  /// - Parameter goingOn: Whether another blob is written there.
  func violation(in image: SimulatedFileSystem, goingOn: Bool = true) -> String? {
    let world = BlobWorld(image, from: nextNumber(in: image))
    for blob in acknowledged {
      if let fault = fault(of: blob, in: world) { return "\(blob.identity.low): \(fault)" }
    }
    for blob in unsynced {
      let found = try? world.blob(blob.identity, at: blob.place).data()
      if let found, !found.bytes.equals(blob.content.rawSpan) {
        return "\(blob.identity.low) is wrong"
      }
    }
    return goingOn ? faultOfNext(in: world, on: image) : nil
  }

  private func fault(
    of blob: Acknowledged, in world: BlobWorld
  ) -> String? {
    do throws(StoreError) {
      let found = try world.blob(blob.identity, at: blob.place).data()
      return found.bytes.equals(blob.content.rawSpan) ? nil : "other content"
    } catch {
      return "\(error)"
    }
  }

  /// After whatever happened, a new segment takes a blob that then is there.
  private func faultOfNext(in world: BlobWorld, on image: SimulatedFileSystem) -> String? {
    do throws(StoreError) {
      let next = try world.write(Self.small, as: 99)
      try world.files.sync([next.place])
      let blob = Acknowledged(
        identity: next.identity, place: next.place, content: Self.small)
      return fault(of: blob, in: BlobWorld(image.crashed(.none)))
    } catch {
      return "next: \(error)"
    }
  }

  /// Above all that have a file, also one that was never finished.
  private func nextNumber(in image: SimulatedFileSystem) -> UInt32 {
    let numbers = image.names.compactMap { name -> UInt32? in
      if case .blobs(let number) = name.kind { number } else { nil }
    }
    return (numbers.max() ?? 0) + 1
  }
}
