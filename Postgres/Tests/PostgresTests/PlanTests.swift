import Cambium
import CambiumPostgres
import FoundationEssentials
import Testing

@Suite struct PlanTests {
  private func plan(_ options: PlanOptions = PlanOptions()) throws -> PostgresPlan {
    let path = Workshop.directory("plan")
    let store = try PersistentStore(at: path, model: Workshop.model)
    defer {
      try? store.close()
      try? PersistentStore.delete(at: path)
    }
    return PostgresPlan(store.schema, options: options)
  }

  @Test func `names are in snake case, and those that PostgreSQL reserves are quoted`() throws {
    let text = try plan().text(nil)
    #expect(text.contains("CREATE TABLE public.tool ("))
    #expect(text.contains("sort_name text COLLATE \"C\" NOT NULL"))
    var options = PlanOptions()
    options.names = .exact
    #expect(try plan(options).text(nil).contains("\"sortName\" text"))
  }

  @Test func `types are those whose values and order are the same`() throws {
    let text = try plan().text(nil)
    for line in [
      "id uuid NOT NULL", "price numeric NOT NULL", "bought timestamp with time zone NOT NULL",
      "count numeric(20,0) NOT NULL", "weight double precision NOT NULL", "picture bytea",
      "picture_blob uuid", "sizes bigint[] NOT NULL", "is_sold boolean NOT NULL",
      "place_is_set boolean NOT NULL", "place_shelf text",
      "count BETWEEN 0 AND 18446744073709551615",
    ] {
      #expect(text.contains(line), "\(line) in \(text)")
    }
  }

  @Test func `references are foreign keys with the rules of the store`() throws {
    let text = try plan().text(nil)
    #expect(
      text.contains(
        "FOREIGN KEY (maker) REFERENCES public.maker (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"
      ))
    #expect(text.contains("CREATE TABLE public.tool_tags ("))
    #expect(text.contains("FOREIGN KEY (tag) REFERENCES public.tag (id) ON DELETE CASCADE"))
    #expect(text.contains("UNIQUE (name)"))
    #expect(text.contains("ON public.tool (sort_name)"))
  }

  @Test func `a scan counts what cannot go over, and what changes`() throws {
    let path = Workshop.directory("scan")
    let store = try PersistentStore(at: path, model: Workshop.model)
    defer {
      try? store.close()
      try? PersistentStore.delete(at: path)
    }
    let plan = PostgresPlan(store.schema)
    #expect(try ValueScan(of: store.snapshot(), for: plan).findings.isEmpty)
    try store.write { transaction in
      for number in 0..<3 {
        var tool = Workshop.Tool(id: Workshop.identity(number))
        tool.sortName = number == 2 ? "a\0b" : "ab"
        tool.bought = Date(timeIntervalSinceReferenceDate: number == 1 ? 1e15 : 0.123_456_789)
        tool.count = number == 0 ? .max : 1
        try transaction.save(tool)
      }
    }
    let scan = try ValueScan(of: store.snapshot(), for: plan)
    let found = Dictionary(uniqueKeysWithValues: scan.findings.map { ($0.loss, $0.count) })
    #expect(found == [.nul: 1, .noSuchTime: 1, .rounded: 2, .aboveBigint: 1])
    #expect(!scan.isMovable)
    #expect(plan.text(scan).contains("Tool.sortName contains U+0000"))
    #expect(try plan.json(scan).contains("\"loss\" : \"nul\""))
  }

  @Test func `a date that comes back as it was is not said to be rounded`() {
    func of(_ seconds: Double) -> Microseconds {
      Microseconds(Date(timeIntervalSinceReferenceDate: seconds))
    }
    #expect(of(0) == .exact(31_622_400_000_000))
    #expect(of(-0.5) == .exact(31_622_399_500_000))
    #expect(of(0.1) == .exact(31_622_400_100_000))
    #expect(of(.infinity) == .exact(.max))
    #expect(of(.nan) == .impossible)
    #expect(of(1e15) == .impossible)
    #expect(of(0.123_456_7) == .rounded(31_622_400_123_457))
  }
}
