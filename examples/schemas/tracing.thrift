// Spans of a traced request, in batches: the bytes that Jaeger's clients send to an agent, by names of our own.

/** Which field of a tag holds its value. */
enum Kind {
  TEXT = 0
  REAL = 1
  FLAG = 2
  WHOLE = 3
  BLOB = 4
}

/** Something to be known of a span or of a process. */
struct Tag {
  1: required string key
  2: required Kind kind
  3: optional string text
  4: optional double real
  5: optional bool flag
  6: optional i64 whole
  7: optional binary blob
}

/** Something that happened at one time within a span. */
struct Event {
  1: required i64 time // microseconds since 1970
  2: required list<Tag> tags
}

/** How a span follows from another one than its parent. */
enum Relation {
  CHILD_OF = 0
  FOLLOWS_FROM = 1
}

struct Link {
  1: required Relation relation
  2: required i64 trace_low
  3: required i64 trace_high
  4: required i64 span
}

/** One piece of work. */
struct Span {
  1: required i64 trace_low  // the lower 64 bits of the trace's id
  2: required i64 trace_high // the upper ones
  3: required i64 id
  4: required i64 parent // 0: none
  5: required string operation
  6: optional list<Link> links
  7: required i32 flags // 1: sampled
  8: required i64 start // microseconds since 1970
  9: required i64 duration // microseconds
  10: optional list<Tag> tags
  11: optional list<Event> events
}

/** The program whose spans these are. */
struct Process {
  1: required string service
  2: optional list<Tag> tags
}

struct Batch {
  1: required Process process
  2: required list<Span> spans
}

service Agent {
  oneway void emitBatch(1: Batch batch)
}
