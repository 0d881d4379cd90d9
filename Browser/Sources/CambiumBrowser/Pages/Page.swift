import Cambium

/// The content of a page, without the frame that all pages have.
struct Page {
  /// The title, for the window and the first heading.
  let title: String
  /// A sentence below the title.
  let subtitle: String
  /// The type whose records it shows; nil if it shows those of none.
  let type: String?
  let content: HTML

  init(
    _ title: String, _ subtitle: String = "", type: String? = nil,
    @HTMLBuilder _ content: () throws -> HTML
  ) rethrows {
    self.title = title
    self.subtitle = subtitle
    self.type = type
    self.content = try content()
  }
}

/// The frame of all pages: the pages of the store at the top, its types at the side.
struct Frame {
  let store: String
  /// The types and the numbers of their records; none if the store cannot be opened.
  let types: [RecordStatistics]
  let route: Route

  private static let pages: [(route: Route, name: String)] = [
    (.overview, "Overview"), (.versions, "Versions"), (.migration, "Migration"), (.map, "Map"),
    (.history, "History"),
  ]

  func html(_ page: Page) -> HTML {
    .document(
      element(.html, [.lang: "en"]) {
        element(.head) {
          element(.meta, [.charset: "utf-8"])
          element(
            .meta, [.name: "viewport", .content: "width=device-width, initial-scale=1"])
          element(.meta, [.name: "color-scheme", .content: "light dark"])
          element(.title, "\(page.title) · \(store)")
          element(.link, [.rel: "stylesheet"], to: Address(.style))
        }
        element(.body) {
          banner
          element(.div, [.kind: "columns"]) {
            sidebar(current: page.type)
            element(.main) {
              element(.h1, page.title)
              if !page.subtitle.isEmpty { element(.p, [.kind: "subtitle"], page.subtitle) }
              page.content
            }
          }
        }
      })
  }

  private var banner: HTML {
    element(.header) {
      element(.a, [.kind: "store"], to: Address(.overview)) {
        element(.span, [.kind: "mark"])
        element(.strong, store)
      }
      element(.nav, [.label: "Pages"]) {
        for page in Self.pages {
          element(
            .a, page.route == route ? [.current: "page"] : [:], to: Address(page.route), page.name)
        }
      }
      element(.span, [.kind: "badge", .title: "No page changes the store."], "read-only")
    }
  }

  private func sidebar(current: String?) -> HTML {
    element(.aside) {
      element(.nav, [.label: "Types"]) {
        for type in types {
          element(
            .a, type.name == current ? [.current: "page"] : [:],
            to: Address(.records, ["type": type.name])
          ) {
            element(.span, type.name)
            element(.small, Figures.count(type.count))
          }
        }
      }
    }
  }
}

/// An error of an address, or an answer that is none, in a sentence.
struct PageFault: Error, Hashable {
  let status: Int
  let sentence: String

  /// A sentence that repeats a very long value of an address is shortened.
  init(_ status: Int, _ sentence: String) {
    self.status = status
    self.sentence = sentence.shortened(to: 1000)
  }

  /// Creates the fault that any error is.
  init(_ error: any Error) {
    switch error {
    case let fault as PageFault: self = fault
    case let error as ConditionSyntaxError: self.init(400, "The condition, \(error)")
    case let error as StoreError: self.init(Self.status(of: error), "\(error)")
    default: self.init(500, "\(error)")
    }
  }

  private static func status(of error: StoreError) -> Int {
    switch error {
    case .missing, .noSuchRecord, .historyExpired: 404
    case .invalidQuery, .unknownRecord, .sortTooLarge, .queryBudgetExceeded: 400
    default: 500
    }
  }

  /// The page that shows it.
  var page: Page {
    Page(status == 404 ? "Not found" : status == 400 ? "Not a valid query" : "Cannot be shown") {
      element(.p, [.kind: "fault"], sentence)
    }
  }
}

/// A list of names and values, such as those of a store or a record.
func definitions(_ rows: [(name: String, value: HTML)]) -> HTML {
  element(.dl) {
    for row in rows {
      element(.dt, row.name)
      element(.dd) { row.value }
    }
  }
}

/// A table of texts, of which some columns are numbers.
func textTable(_ names: [String], numbers: Set<Int> = [], _ rows: [[HTML]]) -> HTML {
  element(.div, [.kind: "scroll"]) {
    element(.table) {
      element(.thead) {
        element(.tr) {
          for (place, name) in names.enumerated() {
            element(
              .th, numbers.contains(place) ? [.scope: "col", .kind: "number"] : [.scope: "col"],
              name)
          }
        }
      }
      element(.tbody) {
        for row in rows {
          element(.tr) {
            for (place, cell) in row.enumerated() {
              element(.td, numbers.contains(place) ? [.kind: "number"] : [:]) { cell }
            }
          }
        }
      }
    }
  }
}
