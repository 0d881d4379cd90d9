import FoundationEssentials
import Testing

@testable import Cambium

@Suite struct RowTests {
  @Test func `what is written is read`() throws {
    let layout = try RowLayout(SampleRecord.eightFields, version: 1)
    let writer = RowWriter()
    let keys = KeyEncoder()
    let id = UUID()
    let note = layout.columns[7].place
    for length in [0, 1, 200, 300, 70_000] {
      let text = String(repeating: "é", count: length)
      keys.begin()
      try id.append(to: keys, as: layout.key.columns[0], of: layout)
      try keys.finishPrimaryKey(of: layout)
      writer.begin(layout)
      let date = Date(timeIntervalSinceReferenceDate: 5)
      try date.put(in: writer, at: layout.columns[1].place.index)
      try writer.append("Ann", to: layout.columns[2].place.index)
      try writer.append(text, to: layout.columns[3].place.index)
      writer.store(Int64(-7), at: layout.columns[4].place.index)
      try 2.5.put(in: writer, at: layout.columns[5].place.index)
      try true.put(in: writer, at: layout.columns[6].place.index)
      if length == 1 {
        writer.setNull(layout.columns[7])
      } else {
        try writer.append("x", to: note.index)
      }
      writer.finish()
      let row = try RowReader(key: keys.key, row: writer.row, layout: layout)
      #expect(try Date.get(from: row, at: layout.columns[1].place.index) == date)
      #expect(try row.string(0) == "Ann")
      #expect(try row.string(1) == text)
      #expect(row.load(layout.columns[4].place.index, as: Int64.self) == -7)
      #expect(row.double(layout.columns[5].place.index) == 2.5)
      #expect(try row.boolean(layout.columns[6].place.index))
      #expect(row.isNull(note) == (length == 1))
      #expect(try row.string(2) == (length == 1 ? "" : "x"))
    }
  }
}
