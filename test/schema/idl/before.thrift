// A type for each rule of compatibility that Apache's generated code can show, before the change of that name.
namespace go before

enum Season {
  SPRING = 1
  AUTUMN = 2
}

struct FieldAdded              { 1: optional i32 a }
struct FieldRemoved            { 1: optional i32 a, 2: optional string b }
struct RequiredFieldAdded      { 1: optional i32 a }
struct RequiredFieldRemoved    { 1: optional i32 a, 2: required string b }
struct FieldRenamed            { 1: optional i32 a }
struct FieldIDChanged          { 1: optional i32 a }
struct FieldIDReused           { 1: optional i32 a, 2: optional i32 b }
struct FieldMadeRequired       { 1: optional i32 a }
struct FieldNoLongerRequired   { 1: required i32 a }
struct FieldRequirementChanged { 1: i32 a }
struct FieldTypeChanged        { 1: optional i32 a }
struct ElementTypeChanged      { 1: optional list<i32> a }
struct ListMadeSet             { 1: optional list<i32> a }
struct EnumMadeInteger         { 1: optional Season a }
struct IntegerMadeEnum         { 1: optional i32 a }
struct DefaultChanged          { 1: optional i32 a = 1 }
struct RequiredDefaultChanged  { 1: required i32 a = 1 }
union  UnionMemberAdded        { 1: i32 a }
union  UnionMemberRemoved      { 1: i32 a, 2: string b }

enum Added      { FIRST = 1 }
enum Removed    { FIRST = 1, SECOND = 2 }
enum Renamed    { FIRST = 1 }
enum Renumbered { FIRST = 1 }

struct EnumValueAdded      { 1: optional Added a }
struct EnumValueRemoved    { 1: optional Removed a }
struct EnumValueRenamed    { 1: optional Renamed a }
struct EnumValueRenumbered { 1: optional Renumbered a }
