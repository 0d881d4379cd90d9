import Cambium
import FoundationEssentials

/// The model of the article about questions on trade, after the database Northwind.
enum Northwind {
  struct Region: Record, Identifiable {
    var id: Int
    var name: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name")
    }
  }

  struct Territory: Record, Identifiable {
    var id: Int
    var name: String
    var region: Reference<Region>

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name")
      Field("region")
    }
  }

  struct Employee: Record, Identifiable {
    var id: Int
    var name: String
    var manager: Reference<Employee>?
    var territories: [Reference<Territory>]

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name")
      Field("manager")
      Field("territories")
    }
  }

  struct Company: Record, Identifiable {
    var id: Int
    var name: String
    var city: String
    var country: String
    var region: String?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name")
      Field("city")
      Field("country")
      Field("region")
      Abstract()
    }
  }

  struct Customer: Record, Identifiable {
    var company: Company
    var contact: String
    var id: Int { company.id }
    static let orders = Inverse("orders", of: \Order.customer)

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Company.self, property: "company")
      Field("contact")
      orders
    }
  }

  struct Supplier: Record, Identifiable {
    var company: Company
    var page: String
    var id: Int { company.id }

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Company.self, property: "company")
      Field("page")
    }
  }

  struct Shipper: Record, Identifiable {
    var company: Company
    var phone: String
    var id: Int { company.id }

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Company.self, property: "company")
      Field("phone")
    }
  }

  struct Category: Record, Identifiable {
    var id: Int
    var name: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name")
    }
  }

  struct Product: Record, Identifiable {
    var id: Int
    var name: String
    var category: Reference<Category>
    var supplier: Reference<Supplier>
    var price: Double
    var inStock: Int
    var ordered: Int
    var reorderLevel: Int
    static let lines = Inverse("lines", of: \OrderLine.product)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name")
      Field("category")
      Field("supplier")
      Field("price", indexed: true)
      Field("inStock")
      Field("ordered")
      Field("reorderLevel")
      lines
    }
  }

  struct Order: Record, Identifiable {
    var id: Int
    var customer: Reference<Customer>
    var employee: Reference<Employee>
    var shipper: Reference<Shipper>
    var ordered: Date
    var required: Date
    var shipped: Date?
    var freight: Double
    static let lines = Inverse("lines", of: \OrderLine.order)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("customer")
      Field("employee")
      Field("shipper")
      Field("ordered", indexed: true)
      Field("required")
      Field("shipped")
      Field("freight")
      lines
    }
  }

  struct OrderLine: Record {
    var order: Reference<Order>
    var product: Reference<Product>
    var price: Double
    var quantity: Int
    var discount: Double

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("order")
      Field("product")
      Field("price")
      Field("quantity")
      Field("discount")
      PrimaryKey("order", "product")
    }
  }

  static let model = StoreModel(records: [
    Region.self, Territory.self, Employee.self, Company.self, Customer.self, Supplier.self,
    Shipper.self, Category.self, Product.self, Order.self, OrderLine.self,
  ])
}
