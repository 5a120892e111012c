package jsonvalue

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
)

// reference returns what ECMAScript writes for a double, by way of strconv.
func reference(f float64) string {
	switch size := math.Abs(f); {
	case math.IsNaN(f):
		return `"NaN"`
	case math.IsInf(f, 0):
		return map[bool]string{true: `"Infinity"`, false: `"-Infinity"`}[f > 0]
	case size != 0 && (size < 1e-6 || size >= 1e21):
		text := strconv.FormatFloat(f, 'e', -1, 64)
		if n := len(text); text[n-2] == '0' && (text[n-3] == '-' || text[n-3] == '+') {
			text = text[:n-2] + text[n-1:]
		}
		return text
	default:
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
}

func wantDouble(tb testing.TB, f float64) {
	tb.Helper()
	var buf [2 * writeRoom]byte
	for i := range buf {
		buf[i] = '#'
	}
	end := writeDouble(buf[:writeRoom:writeRoom], 0, math.Float64bits(f))
	if got, want := string(buf[:end]), reference(f); got != want {
		tb.Errorf("%x: %s, want %s", math.Float64bits(f), got, want)
	}
}

func TestWriteDouble(t *testing.T) {
	for _, f := range []float64{
		0, math.Copysign(0, -1), 1, -1, 0.1, 0.5, -0.25, 1.5, 123.456, 1e-5, 1e-6, 1.5e-6, 9.999999999999999e-7, 1e-7, 1e20, 123456789012345680000, 1e21,
		-1e21, 1.5e21, 1e22, 1e23, 9007199254740991, 9007199254740992, 9007199254740993, 1 << 60, math.Pi, math.MaxFloat64, math.SmallestNonzeroFloat64,
		math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, 2.2250738585072014e-308, 2.225073858507201e-308, 4.35, 0.3, 2.0 / 3, 1e-10, 1.1e100, 1e100,
		math.Float64frombits(0x7ff8000000000001), math.Float64frombits(0xfff0000000000001), 1e-323, 999999999999999900000, 9.5367431640625e-7,
	} {
		wantDouble(t, f)
	}
	for power := range 2047 {
		for _, fraction := range []uint64{0, 1, 2, 1<<52 - 1, 1<<52 - 2, 1 << 51} {
			wantDouble(t, math.Float64frombits(uint64(power)<<52|fraction))
		}
	}
	for power := -330; power < 310; power++ {
		for digit := 1; digit < 10; digit++ {
			f, _ := strconv.ParseFloat(strconv.Itoa(digit)+"e"+strconv.Itoa(power), 64)
			wantDouble(t, f)
			wantDouble(t, math.Nextafter(f, 0))
			wantDouble(t, math.Nextafter(f, math.Inf(1)))
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		wantDouble(t, math.Float64frombits(random.Uint64()))
		wantDouble(t, random.Float64())
		wantDouble(t, random.NormFloat64()*1e6)
		wantDouble(t, float64(random.Int64N(1e12))/1000)
		if t.Failed() {
			return
		}
	}
}

func FuzzWriteDouble(f *testing.F) {
	f.Add(math.Float64bits(0.1))
	f.Fuzz(func(t *testing.T, word uint64) { wantDouble(t, math.Float64frombits(word)) })
}

func TestWriteTens(t *testing.T) {
	for i := range len(writeTens) / 2 {
		got, k := [2]uint64(writeTens[2*i:]), writeTensFirst+i
		// The power as a fraction, scaled to 128 bits.
		power, one := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(k, -k))), nil)), big.NewInt(1)
		if k < 0 {
			power.Inv(power)
		}
		for power.Cmp(new(big.Rat).SetInt(new(big.Int).Lsh(one, 128))) >= 0 {
			power.Quo(power, big.NewRat(2, 1))
		}
		for power.Cmp(new(big.Rat).SetInt(new(big.Int).Lsh(one, 127))) < 0 {
			power.Mul(power, big.NewRat(2, 1))
		}
		whole, rest := new(big.Int).QuoRem(power.Num(), power.Denom(), new(big.Int))
		if rest.Sign() != 0 {
			whole.Add(whole, one)
		}
		want := [2]uint64{new(big.Int).Rsh(whole, 64).Uint64(), new(big.Int).And(whole, new(big.Int).SetUint64(math.MaxUint64)).Uint64()}
		if got != want {
			t.Errorf("10^%d: %016x, want %016x", k, got, want)
		}
	}
}

func TestWriteInteger(t *testing.T) {
	check := func(v int64) {
		var buf [writeRoom]byte
		if got, want := string(buf[:writeInteger(buf[:], 0, v)]), strconv.FormatInt(v, 10); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, v := range []int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1, 0} {
		check(v)
	}
	for power := int64(1); power > 0 && power <= 1e18; power *= 10 {
		for v := power - 101; v <= power+101; v++ {
			check(v)
			check(-v)
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 200_000 {
		check(int64(random.Uint64() >> random.UintN(64)))
	}
}
