/// One committed state of a `PostgresStore`: a transaction of the server that reads only. It must not be kept; after the end of
/// `PostgresStore.read` it throws `StoreError.closed`.
public struct PostgresSnapshot: PostgresReading {
  public let reader: PostgresReader

  init(server: ServerTransaction) { reader = PostgresReader(server: server) }
}
