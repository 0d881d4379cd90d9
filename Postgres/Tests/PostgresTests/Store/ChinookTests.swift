import Cambium
import CambiumPostgres
import FoundationEssentials
import Testing

/// The questions of the article on a music shop that a store on a server answers, in their numbers, each with the answer of an
/// embedded store with the same records.
@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct ChinookTests {
  private typealias Artist = Chinook.Artist
  private typealias Album = Chinook.Album
  private typealias Genre = Chinook.Genre
  private typealias Track = Chinook.Track
  private typealias Playlist = Chinook.Playlist
  private typealias Employee = Chinook.Employee
  private typealias Customer = Chinook.Customer
  private typealias Invoice = Chinook.Invoice
  private typealias InvoiceLine = Chinook.InvoiceLine

  /// The questions, with their answers as texts.
  private static func answers(
    _ state: some PortableReading
  ) throws -> [(question: String, rows: [String])] {
    var answers: [(String, [String])] = []
    func answer(_ question: String, _ rows: [String]) { answers.append((question, rows)) }
    let long = try state.select(from: Track.where { $0.milliseconds > 400_000 }) {
      ($0.name, $0.album.title, $0.album.artist.name)
    }
    answer("C1", long.map { "\($0)" })
    let genres = Genre.sorted(by: .descending { $0.tracks.count() })
    answer(
      "C2", try state.select(from: genres) { ($0.name, $0.tracks.count()) }.map { "\($0)" })
    let longest = try state.fetch(
      Query<Genre>(),
      including: .all(Genre.tracks, sortedBy: .descending(\.milliseconds), limit: 3))
    answer(
      "C4",
      longest.flatMap { genre, tracks in
        tracks.map { "\(genre.id) \($0.name)" }
      })
    answer(
      "C6",
      try state.select(from: Query<Employee>()) { ($0.name, $0.reportsTo.name) }.map { "\($0)" })
    answer(
      "C3", try state.fetch(Genre.where { $0.tracks.count() > 30 }).map(\.name))
    answer("C5", try state.fetch(Artist.where { $0.albums.none() }).map(\.name))
    let countries = Query<Invoice>().grouped { $0.customer.country }
      .computing(.sum(\.total)).sorted(by: .descending(.sum(\.total)))
    answer("C7", try state.fetch(countries).map { "\($0.key as Any) \($0.value)" })
    let revenue = Query<InvoiceLine>().grouped { ($0.track, $0.track.name) }
      .computing(.sum { $0.price * $0.quantity })
      .sorted(by: .descending(.sum { $0.price * $0.quantity }))
    answer("C8", try state.fetch(revenue.limit(10)).map { "\($0.key.1 as Any) \($0.value)" })
    let months = Query<Invoice>().grouped { ($0.date.year(), $0.date.month()) }
      .computing(.sum(\.total))
    answer("C9", try state.fetch(months).map { "\($0.key) \($0.value)" })
    answer("C10", try state.fetch(Track.where { $0.name.hasPrefix("B") }).map { "\($0.id)" })
    answer(
      "C12",
      try state.fetch(Track.where { $0.composer != nil && $0.composer != "Ada" }).map {
        "\($0.id)"
      })
    let page = Track.sorted(by: .ascending(\.name)).limit(25)
    let first = try state.fetch(page, after: nil)
    answer("C13", try state.fetch(page, after: first.last).map { "\($0.id)" })
    answer("C14", try state.distinct(\.country, from: Query<Customer>()))
    answer(
      "C15",
      try state.fetch(Track.where { $0.milliseconds > Track.average(\.milliseconds) }).map {
        "\($0.id)"
      })
    answer(
      "C16",
      try state.fetch(
        Customer.where { $0.invoices.lines.any { $0.track.album.artist.name == "Deep" } }
      ).map(\.name))
    answer(
      "C17", try state.fetch(Customer.where { $0.invoices.sum(\.total) > 12 }).map(\.name))
    answer(
      "C18",
      try state.fetch(Playlist.where { $0.tracks.all { $0.milliseconds >= 125_000 } }).map(\.name)
    )
    answer(
      "C19", try state.fetch(Playlist.where { $0.tracks.contains(Reference(6)) }).map(\.name))
    answer(
      "C25",
      try state.fetch(Artist.sorted(by: .descending { $0.albums.tracks.count() }).limit(10))
        .map(\.name))
    let lists = try state.select(from: Query<Playlist>()) {
      ($0.name, $0.tracks.count, $0.tracks.sum(\.milliseconds))
    }
    answer("C20", lists.map { "\($0)" })
    let below = try state.descendants(of: Employee.where { $0.id == 1 }, along: Employee.reports)
    answer("C21", below.map { "\($0.record.name) \($0.depth)" })
    let totals = Invoice.sorted(by: .ascending(\.date))
      .running(.sum(\.total), within: { $0.customer })
    answer("C22", try state.fetch(totals).map { "\($0.record.id) \($0.value)" })
    let people = Customer.select(\.name) { _ in FieldConstant("customer") }
      .union(Employee.select(\.name) { _ in FieldConstant("employee") })
      .sorted(by: .ascending { $0.0 })
    answer("C24", try state.fetch(people).map { "\($0)" })
    let sales = try state.select(from: Query<Employee>()) {
      ($0.name, $0.customers.invoices.sum(\.total))
    }
    answer("C23", sales.map { "\($0)" })
    let composed = try state.fetch(Track.where { $0.composer != nil })
    let alike = Dictionary(grouping: composed) {
      ["\($0.album.id)", $0.composer, "\($0.price)"]
    }
    let pairs = alike.values.flatMap { tracks in
      tracks.indices.flatMap { place in
        tracks[(place + 1)...].map { "\(tracks[place].id) \($0.id)" }
      }
    }
    answer("C26", pairs.sorted())
    let (begin, end) = (
      Date(timeIntervalSince1970: 1_709_251_200), Date(timeIntervalSince1970: 1_717_200_000)
    )
    let spring = Invoice.where { $0.date.isIn(begin..<end) }.grouped { $0.date.month() }
      .computing(.sum(\.total))
    answer("C27", try state.fetch(spring).map { "\($0.key) \($0.count) \($0.value)" })
    answer(
      "C28",
      try state.fetch(
        Track.where { $0.milliseconds == $0.album.tracks.maximum(\.milliseconds) }
      ).map { "\($0.id)" })
    answer(
      "C29",
      try state.fetch(
        Album.sorted(by: .ascending { $0.artist.name }, .ascending(\.title)).limit(10).offset(5)
      ).map { "\($0.id)" })
    answer(
      "C30",
      try state.fetch(Customer.where { !$0.country.isIn(["Chile", "Egypt", "Ghana"]) }).map(\.name)
    )
    let albums = Album.where { $0.tracks.sum(\.milliseconds) > 1_800_000 }
      .sorted(by: .descending { $0.tracks.sum(\.milliseconds) })
    answer("C31", try state.fetch(albums).map(\.title))
    let extremes = Query<Track>().grouped(by: \.genre)
      .computing(.min(\.milliseconds), .max(\.milliseconds))
    answer("C32", try state.fetch(extremes).map { "\($0.key as Any) \($0.value)" })
    return answers
  }

  @Test func `thirty-one questions about a music shop have the same answers`() async throws {
    let server = try #require(PostgresServer.shared)
    let path = Workshop.directory("chinook")
    let embedded = try await PersistentStore(at: path, model: Chinook.model)
    defer {
      try? embedded.close()
      try? PersistentStore.delete(at: path)
    }
    try ChinookData().insert(into: embedded)
    let address = try server.makeDatabase("chinook")
    try PostgresServer.move(embedded, at: path, to: address)
    let store = try await PostgresStore(address, model: Chinook.model)
    let expected = try Self.answers(try embedded.snapshot())
    let found = try await store.read { snapshot in
      try Self.answers(snapshot).map { "\($0)" }
    }
    #expect(expected.count == 31)
    for (one, other) in zip(expected, found) {
      #expect(!one.rows.isEmpty, "\(one.question)")
      #expect("\(one)" == other)
    }
  }
}
