import Cambium
import CambiumSwiftData
import FoundationEssentials
import TestSupport
import Testing

/// Models whose descriptions follow from their properties, and what containers print.
@Suite struct SwiftDataModelTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func container() throws -> ModelContainer {
    try ModelContainer(
      for: Place.self, Guide.self,
      configurations: ModelConfiguration("guides", isStoredInMemoryOnly: true))
  }

  @Test func `properties of all types are stored, and those of new models when they are read`()
    throws
  {
    let container = try container()
    let context = ModelContext(container)
    var guide = Guide()
    context.insert(guide)
    try context.save()
    let blank = try #require(try context.fetch(FetchDescriptor<Guide>()).first)
    #expect(blank.id == guide.id && blank.title == "" && blank.price == nil && blank.mood == .calm)
    #expect(blank.notes == ["a"] && blank.map == Guide.Map(scale: 2) && blank.views == 3)
    let place = Place(name: "Ulm")
    context.insert(place)
    guide.title = "Danube"
    guide.price = 9.5
    guide.mood = .merry
    guide.notes = []
    guide.map.scale = 5
    guide.places = [place.reference]
    guide.start = place.reference
    guide.views = 7
    context.insert(guide)
    try context.save()
    let full = try #require(try context.fetch(FetchDescriptor<Guide>()).first)
    #expect(full.title == "Danube" && full.price == 9.5 && full.mood == .merry)
    #expect(full.notes == [] && full.map.scale == 5 && full.places == [place.reference])
    #expect(full.start == place.reference && full.views == 3)
    let schema = try container.store(for: Guide.self).schema.record(named: "Guide")
    #expect(
      schema.map { "\($0)" }
        == "Guide(id: uuid, map: transformable(json), mood: string, notes: array(of: string), picture: external(binaryData, threshold: 65536, compression: .zstd(level: 1)), places: array(of: uuid)?, price: double?, rank: int16, start: uuid?, title: string, weight: float)"
    )
    context.delete(guide)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Place>()) == 0)
    try container.close()
  }

  @Test func `predicates and orders name attributes, and never what is computed of them`() throws {
    let container = try container()
    let context = ModelContext(container)
    for (title, price) in [("B", 1.0), ("A", nil), ("C", 2.0)] {
      var guide = Guide()
      (guide.title, guide.price) = (title, price)
      context.insert(guide)
    }
    try context.save()
    func titles(_ descriptor: FetchDescriptor<Guide>) throws -> [String] {
      try context.fetch(descriptor).map(\.title)
    }
    #expect(try titles(FetchDescriptor(predicate: #Predicate { $0.title == "A" })) == ["A"])
    #expect(
      try titles(
        FetchDescriptor(
          predicate: #Predicate { $0.title.starts(with: "B") || $0.price == 2 },
          sortBy: [.init(\.title, order: .reverse)])) == ["C", "B"])
    #expect(try titles(FetchDescriptor(sortBy: [.init(\.price)])) == ["A", "B", "C"])
    #expect(try titles(FetchDescriptor(predicate: #Predicate { $0.weight > 0 })) == [])
    for order: Query<Guide>.Order in [
      .init(\.label), .init(\.loud), .init(\.title.description), .init(\.start!.id), .init(\.views),
    ] {
      let error = storeError { try context.fetch(FetchDescriptor<Guide>(sortBy: [order])) }
      guard case .invalidQuery? = error else {
        Issue.record("\(order): \(String(describing: error))")
        continue
      }
    }
    try container.close()
  }

  @Test func `options of attributes and relationships are those of the description`() throws {
    let container = try container()
    let context = ModelContext(container)
    var guide = Guide()
    guide.title = "A"
    context.insert(guide)
    try context.save()
    var other = Guide()
    other.title = "A"
    other.price = 1
    context.insert(other)
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Guide>()).map(\.price) == [1])
    let places = (0..<3).map { Place(name: "\($0)") }
    for place in places { context.insert(place) }
    guide.places = places.map(\.reference)
    context.insert(guide)
    let error = storeError { try context.save() }
    guard case .relationCount("Guide", _, "places", 3)? = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    try container.close()
  }

  @Test func `containers, contexts, stages and queries say what they are`() throws {
    let container = try container()
    let context = ModelContext(container)
    let text = #"ModelContainer of ModelConfiguration "guides" in memory: Place, Guide"#
    #expect("\(container)" == text)
    #expect("\(context)" == "ModelContext with no unsaved changes to \(text)")
    context.insert(Place(name: "Ulm"))
    #expect("\(context)" == "ModelContext with 1 unsaved change to \(text)")
    let url = URL(filePath: "/srv/trips")
    #expect(
      "\(ModelConfiguration("trips", url: url, allowsSave: false))"
        == #"ModelConfiguration "trips" at /srv/trips, read only"#)
    #expect(
      "\(SampleTripsMigrationPlan.stages)"
        == "[custom stage SampleTripsSchemaV1 → SampleTripsSchemaV2, lightweight stage SampleTripsSchemaV2 → SampleTripsSchemaV3]"
    )
    var descriptor = FetchDescriptor<Place>(
      predicate: #Predicate { $0.name == "Ulm" }, sortBy: [.init(\.name)])
    descriptor.fetchLimit = 3
    #expect("\(descriptor)" == #"FetchDescriptor<Place>: name == "Ulm" sorted by name limit 3"#)
    try container.close()
  }
}

private struct Place: DeclaredModel {
  var id = UUID()
  var name: String = ""
}

private struct Guide: DeclaredModel {
  typealias Transient = TransientProperty

  enum Mood: String, RecordStringEnum, ModelValue { case calm, merry }
  struct Map: Codable, Equatable { var scale = 2 }

  var id = UUID()
  @Attribute(.unique) var title: String
  @Attribute var price: Double?
  @Attribute(.externalStorage) var picture: Data
  @Relationship(.cascade, maximumModelCount: 2) var places: [Reference<Place>]? = []
  @Relationship var start: Reference<Place>?
  @Transient var views: Int = 3
  var mood = Mood.calm
  var notes = ["a"]
  var map = Map()
  var rank: Int16 = 0
  @Attribute var weight: Float

  var label: String { title }
  var loud: String {
    get { title + "!" }
    set { title = String(newValue.dropLast()) }
  }

  init() {}
}

extension Place {
  init(name: String) { self.name = name }
}
