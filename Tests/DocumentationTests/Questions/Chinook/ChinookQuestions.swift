import Cambium
import FoundationEssentials
import Testing

extension Chinook {
  /// The questions of the article on a music shop, each with the answer of SQLite.
  @Suite struct Questions: SQLQuestions {
    static let article = "ComingFromSQLMusic"
    static let compared = Result { try ComparedStore(try Chinook.makeStore()) }
    let store: PersistentStore

    init() throws { store = try Self.compared.get().store }
  }
}

extension Chinook.Questions {
  typealias Artist = Chinook.Artist
  typealias Album = Chinook.Album
  typealias Genre = Chinook.Genre
  typealias Track = Chinook.Track
  typealias Playlist = Chinook.Playlist
  typealias Employee = Chinook.Employee
  typealias Customer = Chinook.Customer
  typealias Invoice = Chinook.Invoice
  typealias InvoiceLine = Chinook.InvoiceLine
}

// MARK: - Records, relations, groups

extension Chinook.Questions {
  @Test func `C1, long tracks with album and artist`() throws {
    let long = try store.select(from: Track.where { $0.milliseconds > 400_000 }) {
      ($0.name, $0.album.title, $0.album.artist.name)
    }
    try compare("C1", long.map { row($0.0, $0.1, $0.2) })
  }

  @Test func `C2, genres with their numbers of tracks, the largest first`() throws {
    let genres = Genre.sorted(by: .descending { $0.tracks.count() })
    let counts = try store.select(from: genres) { ($0.name, $0.tracks.count()) }
    try compare("C2", counts.map { row($0.0, $0.1) })
  }

  @Test func `C3, genres with more than thirty tracks`() throws {
    let large = try store.fetch(Genre.where { $0.tracks.count() > 30 })
    try compare("C3", large.map { row($0.name) })
  }

  @Test func `C4, the three longest tracks of each genre`() throws {
    let longest = try store.fetch(
      Query<Genre>(),
      including: .all(Genre.tracks, sortedBy: .descending(\.milliseconds), limit: 3))
    try compare(
      "C4", longest.flatMap { genre, tracks in tracks.map { row(genre.id, $0.name) } })
  }

  @Test func `C5, artists without albums`() throws {
    let silent = try store.fetch(Artist.where { $0.albums.none() })
    try compare("C5", silent.map { row($0.name) })
  }

  @Test func `C6, employees with their managers`() throws {
    let employees = try store.select(from: Query<Employee>()) { ($0.name, $0.reportsTo.name) }
    try compare("C6", employees.map { row($0.0, $0.1) })
  }

  @Test func `C7, revenue by country, the highest first`() throws {
    let revenue = Query<Invoice>().grouped { $0.customer.country }
      .computing(.sum(\.total)).sorted(by: .descending(.sum(\.total)))
    let countries = try store.fetch(revenue)
    try compare("C7", countries.map { row($0.key, $0.value) })
  }

  @Test func `C8, the ten tracks with the highest revenue`() throws {
    let revenue = Query<InvoiceLine>().grouped { ($0.track, $0.track.name) }
      .computing(.sum { $0.price * $0.quantity })
      .sorted(by: .descending(.sum { $0.price * $0.quantity }))
    let best = try store.fetch(revenue.limit(10))
    try compare("C8", best.map { row($0.key.1, $0.value) })
  }

  @Test func `C9, revenue of each month`() throws {
    let months = try store.fetch(
      Query<Invoice>().grouped { ($0.date.year(), $0.date.month()) }.computing(.sum(\.total)))
    try compare("C9", months.map { row($0.key.0, $0.key.1, $0.value) })
  }
}

// MARK: - Strings, null, pages

extension Chinook.Questions {
  @Test func `C10, tracks whose name begins with B`() throws {
    let tracks = try store.fetch(Track.where { $0.name.hasPrefix("B") })
    try compare("C10", inAnyOrder: true, tracks.map { row($0.id) })
  }

  @Test func `C11, tracks with love in their name, in any case`() throws {
    let tracks = try store.fetch(Track.where { $0.name.contains("love", .caseInsensitive) })
    try compare("C11", inAnyOrder: true, tracks.map { row($0.id) })
  }

  @Test func `C12, tracks of a known composer other than Ada`() throws {
    let tracks = try store.fetch(Track.where { $0.composer != nil && $0.composer != "Ada" })
    try compare("C12", inAnyOrder: true, tracks.map { row($0.id) })
  }

  @Test func `C13, the second page of tracks by name`() throws {
    let page = Track.sorted(by: .ascending(\.name)).limit(25)
    let first = try store.fetch(page)
    let second = try store.fetch(page, after: first.last)
    try compare("C13", second.map { row($0.id) })
  }

  @Test func `C14, the countries of customers, each once`() throws {
    let countries = try store.distinct(\.country, from: Query<Customer>())
    try compare("C14", inAnyOrder: true, countries.map { row($0) })
  }

  @Test func `C15, tracks longer than the average`() throws {
    let long = try store.fetch(Track.where { $0.milliseconds > Track.average(\.milliseconds) })
    try compare("C15", inAnyOrder: true, long.map { row($0.id) })
  }
}

// MARK: - Conditions on related records

extension Chinook.Questions {
  @Test func `C16, customers who have bought a track of one artist`() throws {
    let fans = try store.fetch(
      Customer.where {
        $0.invoices.lines.any { $0.track.album.artist.name == "Deep" }
      })
    try compare("C16", inAnyOrder: true, fans.map { row($0.name) })
  }

  @Test func `C17, customers whose invoices add up to more than 12`() throws {
    let good = try store.fetch(Customer.where { $0.invoices.sum(\.total) > 12 })
    try compare("C17", inAnyOrder: true, good.map { row($0.name) })
  }

  @Test func `C18, playlists all of whose tracks are long enough`() throws {
    let long = try store.fetch(Playlist.where { $0.tracks.all { $0.milliseconds >= 125_000 } })
    try compare("C18", inAnyOrder: true, long.map { row($0.name) })
  }

  @Test func `C19, playlists that have a track`() throws {
    let lists = try store.fetch(Playlist.where { $0.tracks.contains(Reference(6)) })
    try compare("C19", inAnyOrder: true, lists.map { row($0.name) })
  }

  @Test func `C20, playlists with number and duration of their tracks`() throws {
    let lists = try store.select(from: Query<Playlist>()) {
      ($0.name, $0.tracks.count, $0.tracks.sum(\.milliseconds))
    }
    try compare("C20", lists.map { row($0.0, $0.1, $0.2) })
  }

  @Test func `C21, everyone below an employee, with the distance`() throws {
    let below = try store.descendants(of: Employee.where { $0.id == 1 }, along: Employee.reports)
    try compare("C21", below.map { row($0.record.name, $0.depth) })
  }

  @Test func `C22, invoices with the running total of their customer`() throws {
    let totals = try store.fetch(
      Invoice.sorted(by: .ascending(\.date)).running(.sum(\.total), within: { $0.customer }))
    try compare("C22", totals.map { row($0.record.id, $0.value) })
  }

  @Test func `C23, revenue of each employee over customers and invoices`() throws {
    let sales = try store.select(from: Query<Employee>()) {
      ($0.name, $0.customers.invoices.sum(\.total))
    }
    try compare("C23", sales.map { row($0.0, $0.1) })
  }
}

// MARK: - Lists, pairs, extremes

extension Chinook.Questions {
  @Test func `C24, customers and employees in one list`() throws {
    let people = try store.fetch(
      Customer.select(\.name) { _ in FieldConstant("customer") }
        .union(Employee.select(\.name) { _ in FieldConstant("employee") })
        .sorted(by: .ascending { $0.0 }))
    try compare("C24", people.map { row($0.0, $0.1) })
  }

  @Test func `C25, the ten artists with the most tracks`() throws {
    let artists = Artist.sorted(by: .descending { $0.albums.tracks.count() })
    let counts = try store.select(from: artists.limit(10)) {
      ($0.name, $0.albums.tracks.count())
    }
    try compare("C25", counts.map { row($0.0, $0.1) })
  }

  @Test func `C26, pairs of tracks of one album with the same composer and price`() throws {
    let tracks = try store.fetch(Track.where { $0.composer != nil })
    let alike = Dictionary(grouping: tracks) { ["\($0.album.id)", $0.composer, "\($0.price)"] }
    let pairs = alike.values.flatMap { tracks in
      tracks.indices.flatMap { place in
        tracks[(place + 1)...].map { (tracks[place].id, $0.id) }
      }
    }
    try compare("C26", inAnyOrder: true, pairs.map { row($0.0, $0.1) })
  }

  @Test func `C27, number and sum of the invoices of a spring, month by month`() throws {
    let (begin, end) = (
      try Date("2024-03-01T00:00:00Z", strategy: .iso8601),
      try Date("2024-06-01T00:00:00Z", strategy: .iso8601)
    )
    let months = try store.fetch(
      Invoice.where { $0.date.isIn(begin..<end) }.grouped { $0.date.month() }
        .computing(.sum(\.total)))
    try compare("C27", months.map { row($0.key, $0.count, $0.value) })
  }

  @Test func `C28, the longest tracks of each album`() throws {
    let longest = try store.fetch(
      Track.where { $0.milliseconds == $0.album.tracks.maximum(\.milliseconds) })
    try compare("C28", inAnyOrder: true, longest.map { row($0.id) })
  }

  @Test func `C29, albums by artist and title, from the sixth on`() throws {
    let albums = try store.fetch(
      Album.sorted(by: .ascending { $0.artist.name }, .ascending(\.title)).limit(10).offset(5))
    try compare("C29", albums.map { row($0.id) })
  }

  @Test func `C30, customers of all but three countries`() throws {
    let others = try store.fetch(
      Customer.where { !$0.country.isIn(["Chile", "Egypt", "Ghana"]) })
    try compare("C30", inAnyOrder: true, others.map { row($0.name) })
  }

  @Test func `C31, albums longer than half an hour, the longest first`() throws {
    let albums = Album.where { $0.tracks.sum(\.milliseconds) > 1_800_000 }
      .sorted(by: .descending { $0.tracks.sum(\.milliseconds) })
    let long = try store.select(from: albums) { ($0.title, $0.tracks.sum(\.milliseconds)) }
    try compare("C31", long.map { row($0.0, $0.1) })
  }

  @Test func `C32, the shortest and the longest track of each genre`() throws {
    let extremes = try store.fetch(
      Query<Track>().grouped(by: \.genre).computing(.min(\.milliseconds), .max(\.milliseconds)))
    try compare("C32", extremes.map { row($0.key, $0.value.0, $0.value.1) })
  }
}
