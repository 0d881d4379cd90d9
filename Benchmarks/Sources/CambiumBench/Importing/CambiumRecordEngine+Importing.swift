import Cambium

extension CambiumRecordEngine: ImportEngine {
  func importItems(_ items: [Item], _ workload: ImportWorkload) throws {
    let report = try store.importRecords(Item.self, from: items, id: \.id) { item, _ in item }
    let written = workload == .changed ? report.updated : report.unchanged
    guard report.inserted + written == items.count, written == items.count / 2 else {
      throw RecordEngineError(engine: .cambium, message: "imported \(report)")
    }
  }
}
