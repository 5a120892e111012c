// The types of before.thrift after the changes that they are named for.
namespace go after

enum Season {
  SPRING = 1
  AUTUMN = 2
}

struct FieldAdded              { 1: optional i32 a, 2: optional string b }
struct FieldRemoved            { 1: optional i32 a }
struct RequiredFieldAdded      { 1: optional i32 a, 2: required string b }
struct RequiredFieldRemoved    { 1: optional i32 a }
struct FieldRenamed            { 1: optional i32 b }
struct FieldIDChanged          { 2: optional i32 a }
struct FieldIDReused           { 1: optional i32 b, 2: optional i32 a }
struct FieldMadeRequired       { 1: required i32 a }
struct FieldNoLongerRequired   { 1: optional i32 a }
struct FieldRequirementChanged { 1: optional i32 a }
struct FieldTypeChanged        { 1: optional i64 a }
struct ElementTypeChanged      { 1: optional list<i64> a }
struct ListMadeSet             { 1: optional set<i32> a }
struct EnumMadeInteger         { 1: optional i32 a }
struct IntegerMadeEnum         { 1: optional Season a }
struct DefaultChanged          { 1: optional i32 a = 2 }
struct RequiredDefaultChanged  { 1: required i32 a = 2 }
union  UnionMemberAdded        { 1: i32 a, 2: string b }
union  UnionMemberRemoved      { 1: i32 a }

enum Added      { FIRST = 1, SECOND = 2 }
enum Removed    { FIRST = 1 }
enum Renamed    { OTHER = 1 }
enum Renumbered { FIRST = 3 }

struct EnumValueAdded      { 1: optional Added a }
struct EnumValueRemoved    { 1: optional Removed a }
struct EnumValueRenamed    { 1: optional Renamed a }
struct EnumValueRenumbered { 1: optional Renumbered a }
