// The structs of Apache Thrift's Ruby protocol benchmark, by their ids and types, and the records of the bulk
// scenarios. Our own wording.

namespace go apachegen

struct OneOfEach {
  1: bool truth
  2: bool lie
  3: i8 octet
  4: i16 short_integer
  5: i32 integer
  6: i64 long_integer
  7: double fraction
  8: string text
  9: string unicode_text
}

struct Nested1 {
  1: list<OneOfEach> elements
  2: map<i32, OneOfEach> by_i32
  3: map<i64, OneOfEach> by_i64
  4: map<double, OneOfEach> by_double
  5: map<string, OneOfEach> by_string
}

struct Nested2 {
  1: list<Nested1> elements
  2: map<i32, Nested1> by_i32
  3: map<i64, Nested1> by_i64
  4: map<double, Nested1> by_double
  5: map<string, Nested1> by_string
}

struct Nested3 {
  1: list<Nested2> elements
  2: map<i32, Nested2> by_i32
  3: map<i64, Nested2> by_i64
  4: map<double, Nested2> by_double
  5: map<string, Nested2> by_string
}

struct Nested4 {
  1: list<Nested3> elements
  2: map<i32, Nested3> by_i32
  3: map<i64, Nested3> by_i64
  4: map<double, Nested3> by_double
  5: map<string, Nested3> by_string
}

struct Record {
  1: i32 number
  2: i64 time
  3: double measure
  4: string name
  5: bool good
}

struct Bulk {
  1: optional list<i64> i64s
  2: optional list<i32> i32s
  3: optional list<double> doubles
  4: optional list<string> strings
  5: optional list<Record> records
  6: optional map<string, i64> counts
  7: optional binary blob
}
