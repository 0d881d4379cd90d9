import ArgumentParser
import Cambium

/// A question of the articles for users of SQL, as it is put to a store.
struct SQLQuestion: Sendable {
  let name: String
  /// False if the answer takes work in memory after a query.
  let isOneQuery: Bool
  /// True if the rows of the answer have no order.
  let isInAnyOrder: Bool
  let answer: @Sendable (PersistentStore) throws -> [[FieldValue]]

  init(
    _ name: String, isOneQuery: Bool = true, inAnyOrder isInAnyOrder: Bool = false,
    _ answer: @escaping @Sendable (PersistentStore) throws -> [[FieldValue]]
  ) {
    self.name = name
    self.isOneQuery = isOneQuery
    self.isInAnyOrder = isInAnyOrder
    self.answer = answer
  }
}

/// Returns a row of an answer.
func row(_ values: any FieldValueConvertible...) -> [FieldValue] { values.map(\.fieldValue) }

/// The records that questions are about, in both engines.
enum QuestionSubject: String, CaseIterable, ExpressibleByArgument {
  case music, films, trade

  var article: String {
    switch self {
    case .music: "ComingFromSQLMusic"
    case .films: "ComingFromSQLFilms"
    case .trade: "ComingFromSQLTrade"
    }
  }

  var model: StoreModel {
    switch self {
    case .music: Chinook.model
    case .films: Sakila.model
    case .trade: Northwind.model
    }
  }

  var questions: [SQLQuestion] {
    switch self {
    case .music: Chinook.questions
    case .films: Sakila.questions
    case .trade: Northwind.questions
    }
  }

  /// Inserts as many records as the databases have that the articles are after, times a share.
  func insert(into store: PersistentStore, share: Double) throws {
    func scaled(_ count: Int) -> Int { max(1, Int(Double(count) * share)) }
    switch self {
    // 3,200 tracks, 1,440 invoices.
    case .music: try ChinookData(scale: scaled(16)).insert(into: store)
    // 15,600 rentals, 14,400 payments.
    case .films: try SakilaData(scale: scaled(60)).insert(into: store)
    // 16,000 orders with 608,000 lines.
    case .trade:
      try NorthwindData(productCount: 77, orderCount: scaled(16_000), lineCount: 75)
        .insert(into: store)
    }
  }
}
