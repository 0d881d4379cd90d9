import Cambium

/// The store at a glance: its size, its versions, its types and its last commits.
struct OverviewPage {
  let found: StoreInspection
  let name: String

  init(of store: FollowedStore) throws(StoreError) {
    found = try store.inspection(lastCommits: 8)
    name = store.name
  }

  var page: Page {
    Page(name, found.path) {
      tiles
      if found.schemas.isEmpty {
        element(.p, [.kind: "notice"], "No program has put a model into it yet.")
      }
      if !found.statistics.records.isEmpty {
        element(.h2, "Types")
        types
      }
      if !found.lastCommits.isEmpty {
        element(.h2, "Last commits")
        commits
      }
      element(.h2, "Store")
      definitions(details)
    }
  }

  private var tiles: HTML {
    element(.div, [.kind: "tiles"]) {
      tile(Figures.count(found.statistics.recordCount), "records")
      tile(Figures.count(found.statistics.records.count), "types")
      tile(found.version.map { "\($0)" } ?? "–", found.label.map { "version “\($0)”" } ?? "version")
      tile(Figures.size(found.size), "in files")
      tile(Figures.count(found.sequence), "last commit")
    }
  }

  private func tile(_ figure: String, _ meaning: String) -> HTML {
    element(.div) {
      element(.strong, figure)
      element(.small, meaning)
    }
  }

  private var types: HTML {
    textTable(
      ["type", "records", "rows", "indexes", "references"], numbers: [1, 2, 3],
      found.statistics.records.map { type in
        [
          element(.a, to: Address(.records, ["type": type.name]), type.name),
          HTML(Figures.count(type.count)), HTML(Figures.size(type.rowBytes)),
          HTML(Figures.size(type.indexBytes)), references(of: type.name),
        ]
      })
  }

  private func references(of type: String) -> HTML {
    let fields = found.schemas.last?.record(named: type)?.fields ?? []
    let links = fields.compactMap { field in
      field.reference.map { reference in
        element(
          .a, [.title: "\(type).\(field.name)"],
          to: Address(.records, ["type": reference.destination]), reference.destination)
      }
    }
    return HTML(links.enumerated().flatMap { $0 == 0 ? [$1] : [HTML(", "), $1] })
  }

  private var commits: HTML {
    textTable(
      ["commit", "date", "author"], numbers: [0],
      found.lastCommits.map { commit in
        [
          element(
            .a, to: HistoryPage.address(of: commit.sequence), Figures.count(commit.sequence)),
          HTML(FieldValue.date(commit.date).plainText), HTML(commit.author ?? "–"),
        ]
      })
  }

  private var details: [(name: String, value: HTML)] {
    var rows: [(name: String, value: HTML)] = [
      ("Format", HTML("\(found.format)")), ("Identity", element(.code, found.identity)),
      (
        "Pages", HTML("\(Figures.size(found.pageBytes)), \(Figures.share(found.liveShare)) live")
      ),
      (
        "Blobs", HTML("\(Figures.count(found.blobCount)) in \(Figures.size(found.blobBytes))")
      ),
      (
        "Writer",
        HTML(found.isOpenForWriting ? "A program has it open." : "No program has it open.")
      ),
    ]
    for kept in found.keptVersions {
      let label = kept.label.map { " “\($0)”" } ?? ""
      rows.append(("Kept", HTML("version \(kept.version)\(label), commit \(kept.sequence)")))
    }
    if let pending = found.pendingMigration {
      let count = pending.records.values.reduce(0, +)
      rows.append(
        (
          "Deferred migration",
          HTML("\(Figures.count(count, "record")) of version \(pending.from) and above are left")
        ))
    }
    return rows
  }
}
