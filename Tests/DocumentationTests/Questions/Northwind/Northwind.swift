import Cambium
import FoundationEssentials

/// The model of the article about questions on trade, after the database Northwind.
enum Northwind {
  struct Region: Record, Identifiable {
    var id: Int
    var name: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
    }
  }

  struct Territory: Record, Identifiable {
    var id: Int
    var name: String
    var region: Reference<Region>

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "region", type: .reference(to: Region.self))
    }
  }

  struct Employee: Record, Identifiable {
    var id: Int
    var name: String
    var manager: Reference<Employee>?
    var territories: [Reference<Territory>]

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "manager", type: .reference(to: Employee.self), optional: true)
      Field(name: "territories", type: .references(to: Territory.self))
    }
  }

  struct Company: Record, Identifiable {
    var id: Int
    var name: String
    var city: String
    var country: String
    var region: String?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "city", type: .string)
      Field(name: "country", type: .string)
      Field(name: "region", type: .string, optional: true)
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
      Field(name: "contact", type: .string)
      orders
    }
  }

  struct Supplier: Record, Identifiable {
    var company: Company
    var page: String
    var id: Int { company.id }

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Company.self, property: "company")
      Field(name: "page", type: .string)
    }
  }

  struct Shipper: Record, Identifiable {
    var company: Company
    var phone: String
    var id: Int { company.id }

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Company.self, property: "company")
      Field(name: "phone", type: .string)
    }
  }

  struct Category: Record, Identifiable {
    var id: Int
    var name: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
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
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "category", type: .reference(to: Category.self))
      Field(name: "supplier", type: .reference(to: Supplier.self))
      Field(name: "price", type: .double, indexed: true)
      Field(name: "inStock", type: .integer)
      Field(name: "ordered", type: .integer)
      Field(name: "reorderLevel", type: .integer)
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
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "customer", type: .reference(to: Customer.self))
      Field(name: "employee", type: .reference(to: Employee.self))
      Field(name: "shipper", type: .reference(to: Shipper.self))
      Field(name: "ordered", type: .date, indexed: true)
      Field(name: "required", type: .date)
      Field(name: "shipped", type: .date, optional: true)
      Field(name: "freight", type: .double)
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
      Field(name: "order", type: .reference(to: Order.self))
      Field(name: "product", type: .reference(to: Product.self))
      Field(name: "price", type: .double)
      Field(name: "quantity", type: .integer)
      Field(name: "discount", type: .double)
      PrimaryKey("order", "product")
    }
  }

  static let model = StoreModel(records: [
    Region.self, Territory.self, Employee.self, Company.self, Customer.self, Supplier.self,
    Shipper.self, Category.self, Product.self, Order.self, OrderLine.self,
  ])
}
