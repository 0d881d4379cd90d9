import Cambium
import CambiumCoreStore
import FoundationEssentials

// The models of “JustClean Demo”, line by line. In all of them:
//
// - `final class X: CoreStoreObject` is a struct with a primary key, and its `@Field`s are its description.
// - A relation is stored at one end: in the list, in its order, as `Array<LaundryItem>` is. The other end is an `Inverse`.

//define V1 data model
enum V1 {
  struct LaundryItem: CoreStoreObject, Identifiable {
    var id = UUID()  // theirs is Core Data's own
    var name: String?
    var price: Double?

    // @Field.Relationship("master") var master: Laundry?
    static let master = Inverse("master", of: \Laundry.items)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "name", type: .string, optional: true)  // @Field.Stored("name")
      Field(name: "price", type: .double, optional: true)  // @Field.Stored("price")
      master
    }
  }

  struct Laundry: CoreStoreObject, Identifiable {
    var id = UUID()
    var number: Int?  // @Field.Stored("id") var id: Int? — each laundry of the demo has the same
    var name: String?
    var photo: String?
    var favorite: Bool = false
    var items: [Reference<LaundryItem>] = []  // Array<LaundryItem>

    static let master = Inverse("master", of: \LaundryData.data)  // var master: LaundryData?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "key", type: .uuid, property: "id")
      Field(name: "id", type: .integer, optional: true, property: "number")
      Field(name: "name", type: .string, optional: true)
      Field(name: "photo", type: .string, optional: true)
      Field(name: "favorite", type: .boolean)
      // @Field.Relationship("items", inverse: \.$master): an item is in one list
      Field(name: "items", type: .references(to: LaundryItem.self), unique: true)
      master
    }
  }

  struct LaundryData: CoreStoreObject, Identifiable {
    var id = UUID()
    var code: Int?
    var status: String?
    var data: [Reference<Laundry>] = []  // Array<Laundry>

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "code", type: .integer, optional: true)
      Field(name: "status", type: .string, optional: true)
      // @Field.Relationship("data", inverse: \.$master)
      Field(name: "data", type: .references(to: Laundry.self), unique: true)
    }
  }
}

//define V2 data model
enum V2 {
  struct LaundryItem: CoreStoreObject, Identifiable {
    var id = UUID()
    var name: String?
    var price: Double?

    static let master = Inverse("master", of: \Laundry.items)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "name", type: .string, optional: true)
      Field(name: "price", type: .double, optional: true)
      master
    }
  }

  struct Laundry: CoreStoreObject, Identifiable {
    var id = UUID()
    var number: Int?
    var name: String?
    var photo: String?
    var favorite: Bool = false
    var items: [Reference<LaundryItem>] = []

    static let master = Inverse("master", of: \LaundryDetail.success)  // var master: LaundryDetail?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "key", type: .uuid, property: "id")
      Field(name: "id", type: .integer, optional: true, property: "number")
      Field(name: "name", type: .string, optional: true)
      Field(name: "photo", type: .string, optional: true)
      Field(name: "favorite", type: .boolean)
      Field(name: "items", type: .references(to: LaundryItem.self), unique: true)
      master
    }
  }

  struct LaundryFailure: CoreStoreObject, Identifiable {
    var id = UUID()
    var number: Int?  // @Field.Stored("id") var id: Int?
    var date: Date?

    static let master = Inverse("master", of: \LaundryDetail.failure)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "key", type: .uuid, property: "id")
      Field(name: "id", type: .integer, optional: true, property: "number")
      Field(name: "date", type: .date, optional: true)
      master
    }
  }

  struct LaundryDetail: CoreStoreObject, Identifiable {
    var id = UUID()
    var success: [Reference<Laundry>] = []  // Array<Laundry>
    var failure: Reference<LaundryFailure>?

    static let master = Inverse("master", of: \LaundryData.data)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "success", type: .references(to: Laundry.self), unique: true)
      Field(
        name: "failure", type: .reference(to: LaundryFailure.self), optional: true, unique: true)
      master
    }
  }

  struct LaundryData: CoreStoreObject, Identifiable {
    var id = UUID()
    var code: Int?
    var data: Reference<LaundryDetail>?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "code", type: .integer, optional: true)
      Field(name: "data", type: .reference(to: LaundryDetail.self), optional: true, unique: true)
    }
  }
}

//add them in to Migration Chain
enum JustClean {
  // The locks have two words an entity, and are ours.
  static let first = CoreStoreSchema(
    modelVersion: "V1",
    entities: [
      Entity<V1.Laundry>("Laundry"),
      Entity<V1.LaundryData>("LaundryData"),
      Entity<V1.LaundryItem>("LaundryItem"),
    ],
    versionLock: [
      "Laundry": [0x0947_afb3_7d57_b5de, 0xe50e_386e_e53a_9e5c],
      "LaundryData": [0xf96e_9709_ada7_2542, 0x3072_1875_ffe4_3428],
      "LaundryItem": [0x59e5_64ee_1466_57b2, 0x4c25_c859_0513_3951],
    ]
  )

  static let second = CoreStoreSchema(
    modelVersion: "V2",
    entities: [
      Entity<V2.Laundry>("Laundry"),
      Entity<V2.LaundryData>("LaundryData"),
      Entity<V2.LaundryItem>("LaundryItem"),
      Entity<V2.LaundryDetail>("LaundryDetail"),
      Entity<V2.LaundryFailure>("LaundryFailure"),
    ],
    versionLock: [
      "Laundry": [0x0947_afb3_7d57_b5de, 0xe50e_386e_e53a_9e5c],
      "LaundryData": [0x29ce_5ae0_cbcd_d2a6, 0xf515_6760_85b8_145c],
      "LaundryDetail": [0x1bfb_ff9b_c652_c7b9, 0x5e53_ea32_cb8c_8ef8],
      "LaundryFailure": [0x8eae_15ec_b3c1_0e14, 0xf145_9dd0_cc4d_a33c],
      "LaundryItem": [0x59e5_64ee_1466_57b2, 0x4c25_c859_0513_3951],
    ]
  )

  /// The stack of the branch V2.
  static func dataStack(at path: String) throws -> DataStack {

    let dataStack = DataStack(
      first,
      second,
      migrationChain: ["V1", "V2"]
    )

    // `try!` there; here whoever opens it is told.
    try dataStack.addStorageAndWait(
      SQLiteStore(
        fileName: path,  // "Modern.justclean.sqlite", in the app's own directory
        localStorageOptions: .recreateStoreOnModelMismatch
      )
    )
    return dataStack
  }

  /// The stack of the program before, `migrationChain: ["V1"]`.
  static func firstStack(at path: String) throws -> DataStack {
    let dataStack = DataStack(first, migrationChain: ["V1"])
    try dataStack.addStorageAndWait(SQLiteStore(fileName: path))
    return dataStack
  }

  /// “MockData”, with V1.
  static func addFirstData(
    to dataStack: DataStack, completion: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) {
    dataStack.perform(
      asynchronous: { transaction in
        var data = V1.LaundryData()  // let data = transaction.create(Into<V1.LaundryData>())
        data.code = 200
        data.status = "suc"

        var laundrys = [Reference<V1.Laundry>]()  // [V1.Laundry]()
        for index in 0...9 {
          var laundry = V1.Laundry()  // transaction.create(Into<V1.Laundry>())
          laundry.number = 3456
          laundry.name = "dubai mall \(index * 7)"
          if index % 2 == 0 {
            laundry.photo = "laundry1"
          } else {
            laundry.photo = "laundry2"
          }
          var laundryItems = [Reference<V1.LaundryItem>]()
          for index in 0...5 {
            // An object is made with its properties: what is set later would have to be saved again.
            let item = try transaction.create(Into<V1.LaundryItem>()) { item in
              item.name = "laundryItem\(index)"
              item.price = Double(index) * 2
            }
            laundryItems.append(item.reference)
          }
          laundry.items = laundryItems
          try transaction.save(laundry)  // nothing there: objects are watched
          laundrys.append(laundry.reference)
        }
        data.data = laundrys
        try transaction.save(data)
      },
      completion: completion)
  }

  /// “MockData”, with V2.
  static func addSecondData(
    to dataStack: DataStack, completion: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) {
    dataStack.perform(
      asynchronous: { transaction in
        var data = V2.LaundryData()
        data.code = 200

        var laundrys = [Reference<V2.Laundry>]()
        for index in 0...9 {
          var laundry = V2.Laundry()
          laundry.number = 3456
          laundry.name = "dubai mall \(index * 7)"
          if index % 2 == 0 {
            laundry.photo = "laundry1"
          } else {
            laundry.photo = "laundry2"
          }
          var laundryItems = [Reference<V2.LaundryItem>]()
          for index in 0...5 {
            let item = try transaction.create(Into<V2.LaundryItem>()) { item in
              item.name = "laundryItem\(index)"
              item.price = Double(index) * 2
            }
            laundryItems.append(item.reference)
          }
          laundry.items = laundryItems
          try transaction.save(laundry)
          laundrys.append(laundry.reference)
        }
        // data.data = transaction.create(Into<V2.LaundryDetail>())
        // data.data?.success = laundrys
        data.data = try transaction.create(Into<V2.LaundryDetail>()) { $0.success = laundrys }
          .reference
        try transaction.save(data)
      },
      completion: completion)
  }
}
