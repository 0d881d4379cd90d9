import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Records with blobs against a dictionary, with everything that can be done to them in a random order.
@Suite struct BlobModelTests {
  @Test(arguments: 0..<4)
  func `random work leaves what a dictionary has`(run: Int) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var world = try World(seed: seed)
    for step in 0..<scaled(1_500, debug: 250) {
      try world.work()
      if step % 50 == 49 { try world.compare("seed \(seed), step \(step)") }
    }
    try world.compare("seed \(seed), at the end")
  }

  private struct World {
    var medium = SimulatedFileSystem()
    var store: PersistentStore
    var random: SplitMix64
    var photos: [Int: Photo] = [:]
    var snapshots: [(StoreSnapshot, [Int: Photo])] = []
    var blobs: [(Blob, Data)] = []
    /// What is being written, and of what.
    var writers: [(BlobWriter, Data)] = []
    /// What there may be after a crash: the last state that is on the medium for good, and those behind it.
    var states: [[Int: Photo]] = [[:]]

    static var options: StoreOptions {
      var options = StoreOptions()
      options.blobSegmentSize = 40_000
      options.foldThreshold = 20_000
      return options
    }

    init(seed: UInt64) throws {
      random = SplitMix64(seed: seed)
      store = try PersistentStore(
        on: medium, model: Photo.model, options: Self.options, seed: seed)
    }

    mutating func photo() -> Photo {
      let id = Int.random(in: 0..<20, using: &random)
      var photo = Photo(
        id, image: Int.random(in: 0..<9_000, using: &random),
        preview: Bool.random(using: &random) ? Int.random(in: 49..<53, using: &random) : nil,
        notes: Int.random(in: 0..<400, using: &random))
      if Bool.random(using: &random), let other = photos.values.randomElement(using: &random) {
        photo.image = other.image
      }
      return photo
    }

    mutating func work() throws {
      switch Int.random(in: 0..<24, using: &random) {
      case 0..<8:
        let photo = photo()
        let durability = durability()
        try store.save(photo, durability: durability)
        photos[photo.id] = photo
        note(durability)
      case 8..<12:
        let photo = photo()
        let durability = durability()
        #expect(try store.delete(photo, durability: durability) == (photos[photo.id] != nil))
        photos[photo.id] = nil
        note(durability)
      case 12:
        guard let photo = try store.fetch(Photo.self).randomElement(using: &random) else { return }
        blobs.append((photo.image, try photo.image.data()))
        photos[photo.id] = photo
      case 13:
        guard let (blob, content) = blobs.randomElement(using: &random) else { return }
        #expect(try blob.data() == content)
        var photo = photo()
        photo.image = blob
        try store.save(photo)
        photos[photo.id] = photo
        note(.durable)
      case 14: snapshots.append((try store.snapshot(), photos))
      case 15: if !snapshots.isEmpty { try look(snapshots.removeFirst()) }
      case 16: if blobs.count > 3 { blobs.removeFirst() }
      case 17: try store.collectBlobs(BlobBudget(bytes: 20_000, garbageShare: 0.3))
      case 18:
        try store.write { transaction in
          for _ in 0..<5 {
            let photo = photo()
            try transaction.save(photo)
            photos[photo.id] = photo
          }
        }
        note(.durable)
      case 19: try beginBlob()
      case 20: try finishBlob()
      case 21: if writers.count > 2 { writers.removeFirst() }
      case 22: try crash()
      default: try reopen()
      }
    }

    private mutating func durability() -> Durability {
      Bool.random(using: &random) ? .durable : .relaxed
    }

    /// A commit was acknowledged.
    private mutating func note(_ durability: Durability) {
      if durability == .durable { states = [] }
      states.append(photos)
    }

    private mutating func reopen() throws {
      if Int.random(in: 0..<4, using: &random) > 0 { return }
      try letGo()
      try store.close()
      states = [photos]
      try open()
    }

    private mutating func open() throws {
      store = try PersistentStore(
        on: medium, model: Photo.model, options: Self.options, seed: random.next())
    }

    /// Nothing is in hand any more that reads from the store.
    private mutating func letGo() throws {
      writers = []
      for held in snapshots { try look(held) }
      snapshots = []
      for (id, photo) in photos { photos[id]?.image = Blob(try photo.image.data()) }
      for (number, state) in states.enumerated() {
        for (id, photo) in state { states[number][id]?.image = Blob(try photo.image.data()) }
      }
      blobs = []
    }

    /// The power goes: what is found is a state from the last durable commit on.
    private mutating func crash() throws {
      if Bool.random(using: &random) { return }
      try letGo()
      let policies = CrashPolicy.some(1, pending: medium.pendingCount, seed: random.next())
      medium = medium.crashed(policies.first ?? .none)
      try open()
      let found = try store.fetch(Photo.self)
      let state = states.last { $0.values.sorted { $0.id < $1.id } == found }
      photos = try #require(state, "\(found.map(\.id)) after \(policies)")
      states = [photos]
    }

    private mutating func beginBlob() throws {
      let content = PhotoContent.bytes(
        Int.random(in: 60_000..<150_000, using: &random), seed: random.next())
      let writer = try store.makeBlobWriter()
      try writer.append(content.prefix(content.count / 2))
      writers.append((writer, content))
    }

    private mutating func finishBlob() throws {
      if writers.isEmpty { return }
      let (writer, content) = writers.removeFirst()
      try writer.append(content.suffix(from: writer.count))
      var photo = photo()
      photo.image = try writer.finish()
      #expect(try photo.image.data() == content)
      let durability = durability()
      try store.save(photo, durability: durability)
      photos[photo.id] = photo
      note(durability)
    }

    private func look(_ held: (StoreSnapshot, [Int: Photo])) throws {
      #expect(try held.0.fetch(Photo.self) == held.1.values.sorted { $0.id < $1.id })
    }

    func compare(_ place: String) throws {
      #expect(try store.fetch(Photo.self) == photos.values.sorted { $0.id < $1.id }, "\(place)")
      #expect(try store.faults() == [], "\(place)")
    }
  }
}
