// swift-format-ignore-file: AlwaysUseLowerCamelCase, GroupNumericLiterals, UseShorthandTypeNames

import Cambium
import CambiumCoreStore
import FoundationEssentials

// The code of “JustClean Demo”, line by line. In all models:
//
// - `final class X: CoreStoreObject` is a struct, with the primary key that Core Data has on its own.
// - An object holds no others. So the type of a relationship is a reference at the end that is stored, the list in its order as
//   `Array<LaundryItem>` is; and at the other end the `Inverse`, by which the object there is fetched.

// Theirs:
// | //define V1 data model
// | enum V1 {
// |     final class LaundryItem: CoreStoreObject {
// |          @Field.Stored("name")
// |             var name: String?
// |          @Field.Stored("price")
// |             var price: Double?
// |
// |          @Field.Relationship("master")
// |              var master: Laundry?
// |      }
// |
// |      final class Laundry: CoreStoreObject {
// |          @Field.Stored("id")
// |             var id: Int?
// |          @Field.Stored("name")
// |             var name: String?
// |          @Field.Stored("photo")
// |             var photo: String?
// |          @Field.Stored("favorite")
// |             var favorite: Bool = false
// |          @Field.Relationship("items", inverse: \.$master)
// |              var items: Array<LaundryItem>
// |
// |          @Field.Relationship("master")
// |              var master: LaundryData?
// |      }
// |
// |      final class LaundryData:CoreStoreObject {
// |          @Field.Stored("code")
// |             var code: Int?
// |
// |          @Field.Stored("status")
// |             var status: String?
// |
// |          @Field.Relationship("data", inverse: \.$master)
// |              var data: Array<Laundry>
// |      }
// | }
// Ours:
enum V1 {
  struct LaundryItem: KeyedObject {
    typealias Laundry = Inverse<V1.LaundryItem, V1.Laundry>

    var objectID = UUID()

    @Field.Stored("name")
    var name: String?
    @Field.Stored("price")
    var price: Double?

    @Field.Relationship("master")
    var master: Laundry?
  }

  struct Laundry: KeyedObject {
    typealias LaundryItem = Reference<V1.LaundryItem>
    typealias LaundryData = Inverse<V1.Laundry, V1.LaundryData>

    var objectID = UUID()

    @Field.Stored("id")
    var id: Int?
    @Field.Stored("name")
    var name: String?
    @Field.Stored("photo")
    var photo: String?
    @Field.Stored("favorite")
    var favorite: Bool = false
    @Field.Relationship("items", inverse: \.$master)
    var items: Array<LaundryItem>

    @Field.Relationship("master")
    var master: LaundryData?
  }

  struct LaundryData: KeyedObject {
    typealias Laundry = Reference<V1.Laundry>

    var objectID = UUID()

    @Field.Stored("code")
    var code: Int?

    @Field.Stored("status")
    var status: String?

    @Field.Relationship("data", inverse: \.$master)
    var data: Array<Laundry>
  }
}
// End of ours.

// Theirs:
// | //define V2 data model
// |
// | enum V2 {
// |     class LaundryItem: CoreStoreObject {
// |         @Field.Stored("name")
// |            var name: String?
// |         @Field.Stored("price")
// |            var price: Double?
// |
// |         @Field.Relationship("master")
// |         var master: Laundry?
// |     }
// |
// |     class Laundry: CoreStoreObject {
// |         @Field.Stored("id")
// |            var id: Int?
// |         @Field.Stored("name")
// |            var name: String?
// |         @Field.Stored("photo")
// |            var photo: String?
// |         @Field.Stored("favorite")
// |            var favorite: Bool = false
// |         @Field.Relationship("items", inverse: \.$master)
// |             var items: Array<LaundryItem>
// |
// |         @Field.Relationship("master")
// |             var master: LaundryDetail?
// |     }
// |
// |
// |
// |     class LaundryFailure:CoreStoreObject {
// |         @Field.Stored("id")
// |            var id: Int?
// |         @Field.Stored("date")
// |            var date: Date?
// |
// |         @Field.Relationship("master")
// |             var master: LaundryDetail?
// |     }
// |
// |     class LaundryDetail:CoreStoreObject {
// |         @Field.Relationship("success", inverse: \.$master)
// |             var success: Array<Laundry>
// |
// |         @Field.Relationship("failure", inverse: \.$master)
// |             var failure: LaundryFailure?
// |
// |         @Field.Relationship("master")
// |             var master: LaundryData?
// |     }
// |
// |     class LaundryData:CoreStoreObject {
// |         @Field.Stored("code")
// |            var code: Int?
// |
// |         @Field.Relationship("data", inverse: \.$master)
// |             var data: LaundryDetail?
// |     }
// | }
// Ours:
enum V2 {
  struct LaundryItem: KeyedObject {
    typealias Laundry = Inverse<V2.LaundryItem, V2.Laundry>

    var objectID = UUID()

    @Field.Stored("name")
    var name: String?
    @Field.Stored("price")
    var price: Double?

    @Field.Relationship("master")
    var master: Laundry?
  }

  struct Laundry: KeyedObject {
    typealias LaundryItem = Reference<V2.LaundryItem>
    typealias LaundryDetail = Inverse<V2.Laundry, V2.LaundryDetail>

    var objectID = UUID()

    @Field.Stored("id")
    var id: Int?
    @Field.Stored("name")
    var name: String?
    @Field.Stored("photo")
    var photo: String?
    @Field.Stored("favorite")
    var favorite: Bool = false
    @Field.Relationship("items", inverse: \.$master)
    var items: Array<LaundryItem>

    @Field.Relationship("master")
    var master: LaundryDetail?
  }

  struct LaundryFailure: KeyedObject {
    typealias LaundryDetail = Inverse<V2.LaundryFailure, V2.LaundryDetail>

    var objectID = UUID()

    @Field.Stored("id")
    var id: Int?
    @Field.Stored("date")
    var date: Date?

    @Field.Relationship("master")
    var master: LaundryDetail?
  }

  struct LaundryDetail: KeyedObject {
    typealias Laundry = Reference<V2.Laundry>
    typealias LaundryFailure = Reference<V2.LaundryFailure>
    typealias LaundryData = Inverse<V2.LaundryDetail, V2.LaundryData>

    var objectID = UUID()

    @Field.Relationship("success", inverse: \.$master)
    var success: Array<Laundry>

    @Field.Relationship("failure", inverse: \.$master)
    var failure: LaundryFailure?

    @Field.Relationship("master")
    var master: LaundryData?
  }

  struct LaundryData: KeyedObject {
    typealias LaundryDetail = Reference<V2.LaundryDetail>

    var objectID = UUID()

    @Field.Stored("code")
    var code: Int?

    // The argument by which the list of version 1 becomes the list of a new LaundryDetail.
    @Field.Relationship("data", inverse: \.$master, choosing: .all(in: "success"))
    var data: LaundryDetail?
  }
}
// End of ours.

// Theirs:
// | //add them in to Migration Chain
// | //versionLock is automaticly genarated by our program, every time when you change the structure of data, it will get a new one in the Xcode console, just copy them into the project.
// | enum JustClean {
// |     // MARK: Internal
// |
// |     static let dataStack: DataStack = {
// |
// |         let dataStack =  DataStack(
// |             CoreStoreSchema(
// |                 modelVersion: "V1",
// |                 entities: [
// |                     Entity<V1.Laundry>("Laundry"),
// |                     Entity<V1.LaundryData>("LaundryData"),
// |                     Entity<V1.LaundryItem>("LaundryItem")
// |                 ],
// |                 versionLock:  [
// |                     "Laundry": [0x2ccef5b9c2ccd8ef, 0x6313e37b6691ccc0, 0xd22c9a3709e3d494, 0x71803a7723aaf47],
// |                     "LaundryData": [0x732f9a0f8966e5f, 0x843b503f365e4caa, 0xd0b3c809ed68ef56, 0xafd9ce676d91d49e],
// |                     "LaundryItem": [0x6b542efaca11071c, 0x2c3e3161b92b9235, 0xff5cec77db5a9315, 0x86eb7b83b7b950b0]
// |                 ]
// |             ),
// |             CoreStoreSchema(
// |                 modelVersion: "V2",
// |                 entities: [
// |                     Entity<V2.Laundry>("Laundry"),
// |                     Entity<V2.LaundryData>("LaundryData"),
// |                     Entity<V2.LaundryItem>("LaundryItem"),
// |                     Entity<V2.LaundryDetail>("LaundryDetail"),
// |                     Entity<V2.LaundryFailure>("LaundryFailure")
// |                 ],versionLock: [
// |                     "Laundry": [0xe1370fb4bf417cf0, 0x7dde45c981b852a3, 0xbb040bd7fb510b6d, 0x8b27931ef73a0583],
// |                     "LaundryData": [0x4b7fb62f9ec88d07, 0xf260324721bdc65f, 0x1f7a4419c3987c61, 0xe4d847b0789dfe15],
// |                     "LaundryDetail": [0x6dc76a425d5cd8f5, 0xc0c9a3e99c2dbe2d, 0x892463d1d1618071, 0xc17618c25b33695],
// |                     "LaundryFailure": [0x113287c6d0670de3, 0x4201139a462a37cc, 0xf938948ed0283c6a, 0x323c9741fe705307],
// |                     "LaundryItem": [0x6b542efaca11071c, 0x2c3e3161b92b9235, 0xff5cec77db5a9315, 0x86eb7b83b7b950b0]
// |                 ]
// |
// |
// |             ),
// |             migrationChain: ["V1","V2"]
// |         )
// |
// |         /**
// |          - Important: `addStorageAndWait(_:)` was used here to simplify initializing the demo, but in practice the asynchronous function variants are recommended.
// |          */
// |         try! dataStack.addStorageAndWait(
// |             SQLiteStore(
// |                 fileName: "Modern.justclean.sqlite",
// |                 localStorageOptions: .recreateStoreOnModelMismatch
// |             )
// |         )
// |         return dataStack
// |     }()
// | }
// Ours:
enum JustClean {
  // MARK: Internal

  static func dataStack() -> DataStack {

    // A lock has two words for each entity.
    let dataStack = DataStack(
      CoreStoreSchema(
        modelVersion: "V1",
        entities: [
          Entity<V1.Laundry>("Laundry"),
          Entity<V1.LaundryData>("LaundryData"),
          Entity<V1.LaundryItem>("LaundryItem"),
        ],
        versionLock: [
          "Laundry": [0xeffdfd0fe2c44885, 0xe72369c3b044e0f4],
          "LaundryData": [0x8e9ac8a7efcc8b55, 0x84974c3ca1993406],
          "LaundryItem": [0xf4501d8336305782, 0x154d08a23601a39],
        ]
      ),
      CoreStoreSchema(
        modelVersion: "V2",
        entities: [
          Entity<V2.Laundry>("Laundry"),
          Entity<V2.LaundryData>("LaundryData"),
          Entity<V2.LaundryItem>("LaundryItem"),
          Entity<V2.LaundryDetail>("LaundryDetail"),
          Entity<V2.LaundryFailure>("LaundryFailure"),
        ],
        versionLock: [
          "Laundry": [0xeffdfd0fe2c44885, 0xe72369c3b044e0f4],
          "LaundryData": [0xdfa76eb355b2d62f, 0xe3717eaaa3d3f32a],
          "LaundryDetail": [0x7b12ea00a2446a50, 0x7caa141a26860c94],
          "LaundryFailure": [0xf0af3f87e253fc2b, 0x84a79feb60fb4279],
          "LaundryItem": [0xf4501d8336305782, 0x154d08a23601a39],
        ]
      ),
      migrationChain: ["V1", "V2"]
    )
    return dataStack
  }

  /// Theirs ends the program if the store cannot be opened, and is in the app's own directory: “Modern.justclean.sqlite”.
  static func dataStack(at path: String) throws -> DataStack {
    let dataStack = dataStack()
    try dataStack.addStorageAndWait(
      SQLiteStore(
        fileName: path,
        localStorageOptions: .recreateStoreOnModelMismatch
      )
    )
    return dataStack
  }
}
// End of ours.

// MARK: - The program before, and its data

extension JustClean {
  /// The version of the branch before.
  static let first = CoreStoreSchema(
    modelVersion: "V1",
    entities: [
      Entity<V1.Laundry>("Laundry"), Entity<V1.LaundryData>("LaundryData"),
      Entity<V1.LaundryItem>("LaundryItem"),
    ])

  /// Its stack, `migrationChain: ["V1"]`.
  static func firstStack(at path: String) throws -> DataStack {
    let dataStack = DataStack(first, migrationChain: ["V1"])
    try dataStack.addStorageAndWait(SQLiteStore(fileName: path))
    return dataStack
  }

  /// A program with the demo's stack, which is the only one there.
  struct Program {
    let dataStack: DataStack
  }

  /// “MockData”, with V1.
  static func addFirstData(
    to JustClean: Program, print: @escaping @Sendable (Any) -> Void
  ) {
    // Theirs:
    // | JustClean.dataStack.perform(asynchronous: { transaction in
    // |       let data = transaction.create(Into<V1.LaundryData>())
    // |       data.code = 200
    // |       data.status = "suc"
    // |
    // |       var laundrys = [V1.Laundry]()
    // |       for index in 0 ... 9 {
    // |           let laundry = transaction.create(Into<V1.Laundry>())
    // |           laundry.id = 3456
    // |           laundry.name = "dubai mall \(index * 7)"
    // |           if index % 2 == 0 {
    // |               laundry.photo = "laundry1"
    // |           } else {
    // |               laundry.photo = "laundry2"
    // |           }
    // |           var laundryItems = [V1.LaundryItem]()
    // |           for index in 0...5 {
    // |               let item = transaction.create(Into<V1.LaundryItem>())
    // |               item.name = "laundryItem\(index)"
    // |               item.price = Double(index)*2
    // |               laundryItems.append(item)
    // |           }
    // |           laundry.items = laundryItems
    // |           laundrys.append(laundry)
    // |       }
    // |       data.data = laundrys
    // |   },
    // |   completion: { result in
    // |       switch result {
    // |       case .success:
    // |           print("success!")
    // |       case let .failure(error): print(error)
    // |       }
    // |   })
    // Ours:
    // swift-format-ignore
    JustClean.dataStack.perform(asynchronous: { transaction in
        var data = V1.LaundryData()  // let data = transaction.create(Into<V1.LaundryData>())
        data.code = 200
        data.status = "suc"

        var laundrys = [Reference<V1.Laundry>]()  // [V1.Laundry]()
        for index in 0 ... 9 {
          var laundry = V1.Laundry()  // transaction.create(Into<V1.Laundry>())
          laundry.id = 3456
          laundry.name = "dubai mall \(index * 7)"
          if index % 2 == 0 {
            laundry.photo = "laundry1"
          } else {
            laundry.photo = "laundry2"
          }
          var laundryItems = [Reference<V1.LaundryItem>]()
          for index in 0...5 {
            var item = V1.LaundryItem()
            item.name = "laundryItem\(index)"
            item.price = Double(index) * 2
            try transaction.save(item)
            laundryItems.append(item)
          }
          laundry.items = laundryItems
          try transaction.save(laundry)  // nothing there: objects are watched
          laundrys.append(laundry)
        }
        data.data = laundrys
        try transaction.save(data)
      },
      completion: { result in
        switch result {
        case .success:
          print("success!")
        case let .failure(error): print(error)
        }
      })
    // End of ours.
  }

  /// “MockData”, with V2.
  static func addSecondData(
    to JustClean: Program, print: @escaping @Sendable (Any) -> Void
  ) {
    // Theirs:
    // | JustClean.dataStack.perform(asynchronous: { transaction in
    // |       let data = transaction.create(Into<V2.LaundryData>())
    // |       data.code = 200
    // |
    // |       var laundrys = [V2.Laundry]()
    // |       for index in 0 ... 9 {
    // |           let laundry = transaction.create(Into<V2.Laundry>())
    // |           laundry.id = 3456
    // |           laundry.name = "dubai mall \(index * 7)"
    // |           if index % 2 == 0 {
    // |               laundry.photo = "laundry1"
    // |           } else {
    // |               laundry.photo = "laundry2"
    // |           }
    // |           var laundryItems = [V2.LaundryItem]()
    // |           for index in 0 ... 5 {
    // |               let item = transaction.create(Into<V2.LaundryItem>())
    // |               item.name = "laundryItem\(index)"
    // |               item.price = Double(index) * 2
    // |               laundryItems.append(item)
    // |           }
    // |           laundry.items = laundryItems
    // |           laundrys.append(laundry)
    // |       }
    // | //                                    data.data = laundrys
    // |       data.data = transaction.create(Into<V2.LaundryDetail>())
    // |       data.data?.success = laundrys
    // |   },
    // |   completion: { result in
    // |       switch result {
    // |       case .success:
    // |           print("success!")
    // |       case let .failure(error): print(error)
    // |       }
    // |   })
    // Ours:
    // swift-format-ignore
    JustClean.dataStack.perform(asynchronous: { transaction in
        var data = V2.LaundryData()
        data.code = 200

        var laundrys = [Reference<V2.Laundry>]()
        for index in 0 ... 9 {
          var laundry = V2.Laundry()
          laundry.id = 3456
          laundry.name = "dubai mall \(index * 7)"
          if index % 2 == 0 {
            laundry.photo = "laundry1"
          } else {
            laundry.photo = "laundry2"
          }
          var laundryItems = [Reference<V2.LaundryItem>]()
          for index in 0...5 {
            var item = V2.LaundryItem()
            item.name = "laundryItem\(index)"
            item.price = Double(index) * 2
            try transaction.save(item)
            laundryItems.append(item)
          }
          laundry.items = laundryItems
          try transaction.save(laundry)
          laundrys.append(laundry)
        }
        // data.data = laundrys
        data.data = try transaction.create(Into<V2.LaundryDetail>()).reference
        try transaction.set(\.success, of: data.data, to: laundrys)  // data.data?.success = laundrys
        try transaction.save(data)
      },
      completion: { result in
        switch result {
        case .success:
          print("success!")
        case let .failure(error): print(error)
        }
      })
    // End of ours.
  }
}
