include "lib/money.thrift"

enum Kind { DRINK = 1 }

struct Item {
  1: required string name
  2: optional i32 price
  3: optional Kind kind
  4: optional list<string> tags
  5: optional money.Price list_price
  6: i32 stock = 1
}
