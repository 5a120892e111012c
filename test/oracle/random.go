package oracle

import (
	"math"
	"math/rand/v2"

	"google.golang.org/protobuf/reflect/protoreflect"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// Random returns a random struct: every type, every nesting up to a depth of 6, ids in and out of order, containers empty, short and
// long, numbers of all magnitudes. The same source gives the same value.
func Random(random *rand.Rand) *thriftpackv1.Value {
	g := generator{Rand: random, left: 20 + random.IntN(400)}
	fields := g.structure(1).GetFields()
	for len(fields) < 3 { // an empty root finds little
		fields = append(fields, g.structure(1).GetFields()...)
		g.left++
	}
	return thriftpackv1.StructValue(fields...)
}

// generator makes values until left of them are used up.
type generator struct {
	*rand.Rand
	left int
}

// randomDepth is the deepest nesting of random values.
const randomDepth = 6

// pick chooses a type, scalars only where it is deep or late.
func (g *generator) pick(depth int) thriftpackv1.Type {
	for {
		t := Types[g.IntN(len(Types))]
		container := t == typeList || t == typeSet || t == typeMap || t == typeStruct
		if !container || depth < randomDepth && g.left > 0 {
			return t
		}
	}
}

func (g *generator) structure(depth int) *thriftpackv1.Struct {
	s := new(thriftpackv1.Struct)
	id := int32(0)
	for range g.size() {
		switch g.IntN(10) {
		case 0:
			id = int32(int16(g.Uint32())) //nolint:gosec // wraps on purpose: any id
		case 1: // the same id again
		default:
			id = min(id+1+g.Int32N(20), math.MaxInt16)
		}
		t := g.pick(depth)
		field := &thriftpackv1.Field{Id: id}
		setKind(field.ProtoReflect(), t, g.value(t, depth+1))
		s.Fields = append(s.Fields, field)
	}
	return s
}

// size is the number of elements of a container: often none, mostly few, seldom many.
func (g *generator) size() int {
	n := g.IntN(6)
	switch g.IntN(20) {
	case 0:
		n = 13 + g.IntN(4) // around the end of the short form of list headers
	case 1:
		n = g.IntN(300)
	}
	n = min(n, max(g.left, 0))
	g.left -= n
	return n
}

func (g *generator) value(t thriftpackv1.Type, depth int) protoreflect.Value {
	switch t {
	case typeBool:
		return protoreflect.ValueOfBool(g.IntN(2) == 1)
	case typeI8:
		return protoreflect.ValueOfInt32(int32(g.integer(8))) //nolint:gosec // 8 bits
	case typeI16:
		return protoreflect.ValueOfInt32(int32(g.integer(16))) //nolint:gosec // 16 bits
	case typeI32:
		return protoreflect.ValueOfInt32(int32(g.integer(32))) //nolint:gosec // 32 bits
	case typeI64:
		return protoreflect.ValueOfInt64(g.integer(64))
	case typeDouble:
		return protoreflect.ValueOfFloat64(math.Float64frombits(g.Uint64()))
	case typeBinary:
		return protoreflect.ValueOfBytes(g.bytes())
	case typeUUID:
		b := make([]byte, 16)
		for i := range b {
			b[i] = byte(g.Uint32()) //nolint:gosec // any byte
		}
		return protoreflect.ValueOfBytes(b)
	case typeString:
		return protoreflect.ValueOfString(g.text())
	case typeList, typeSet:
		return protoreflect.ValueOfMessage(g.list(g.pick(depth), g.size(), depth).ProtoReflect())
	case typeMap:
		n := g.size()
		m := new(thriftpackv1.Map)
		if n > 0 || g.IntN(2) == 0 {
			m.Keys, m.Values = g.list(g.pick(depth), n, depth), g.list(g.pick(depth), n, depth)
		}
		return protoreflect.ValueOfMessage(m.ProtoReflect())
	case typeStruct:
		return protoreflect.ValueOfMessage(g.structure(depth).ProtoReflect())
	case thriftpackv1.Type_TYPE_UNSPECIFIED:
	}
	panic(unknownType(t))
}

// integer returns a number of the given bits, of random magnitude.
func (g *generator) integer(bits uint) int64 {
	return int64(g.Uint64()) >> (64 - bits + g.UintN(bits)) //nolint:gosec // wraps on purpose, to get both signs
}

func (g *generator) list(t thriftpackv1.Type, n, depth int) *thriftpackv1.List {
	values := make([]protoreflect.Value, n)
	for i := range values {
		values[i] = g.value(t, depth+1)
	}
	list := newList(t, values)
	if g.IntN(4) == 0 {
		list.ElementType = t // allowed beside elements, too
	}
	return list
}

func (g *generator) bytes() []byte {
	b := make([]byte, g.length())
	for i := range b {
		b[i] = byte(g.Uint32()) //nolint:gosec // any byte
	}
	return b
}

func (g *generator) text() string {
	runes := make([]rune, g.length())
	for i := range runes {
		switch g.IntN(8) {
		case 0:
			runes[i] = g.Int32N(0xd800) // up to three bytes, below the surrogates
		case 1:
			runes[i] = 0x10000 + g.Int32N(0x100000)
		default:
			runes[i] = ' ' + g.Int32N(95)
		}
	}
	return string(runes)
}

func (g *generator) length() int {
	if g.IntN(30) == 0 {
		return g.IntN(500)
	}
	return g.IntN(20)
}
