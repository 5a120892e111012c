package config

import (
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"time"
)

// suffix is a factor that a number may be followed by.
type suffix struct {
	text   string
	factor int64
}

// sizeSuffixes are the units of bytes. A bare K, M or G is refused: half of its readers mean 1000 and half 1024.
var sizeSuffixes = []suffix{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"kB", 1e3},
	{"Ti", 1 << 40},
	{"Gi", 1 << 30},
	{"Mi", 1 << 20},
	{"Ki", 1 << 10},
	{"B", 1},
}

// countSuffixes are the factors of counts.
var countSuffixes = []suffix{{"Gi", 1 << 30}, {"Mi", 1 << 20}, {"Ki", 1 << 10}}

// ParseSize reads a number of bytes: "16777216", "16MiB", "16 MiB", "16Mi" or "16MB" (10^6). Fractions, signs and bare
// K, M and G are refused.
func ParseSize(text string) (int64, error) {
	n, ok := parseScaled(text, sizeSuffixes)
	if !ok {
		return 0, fmt.Errorf("%q is not a size; want bytes, such as 65536, 64KiB, 16MiB or 1GiB", text)
	}
	return n, nil
}

func parseCount(text string) (int64, error) {
	n, ok := parseScaled(text, countSuffixes)
	if !ok {
		return 0, fmt.Errorf("%q is not a count; want a whole number, such as 100000 or 16Mi", text)
	}
	return n, nil
}

func parseScaled(text string, suffixes []suffix) (int64, bool) {
	factor := int64(1)
	digits := strings.TrimSpace(text)
	for _, s := range suffixes {
		if rest, ok := strings.CutSuffix(digits, s.text); ok {
			digits, factor = strings.TrimSpace(rest), s.factor
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || int64(n) > math.MaxInt64/factor { // ParseUint was asked for 63 bits
		return 0, false
	}
	return int64(n) * factor, true
}

// FormatSize writes a number of bytes with the largest binary unit that divides it, as ParseSize reads it: "16MiB", "1023B", "0".
func FormatSize(n int64) string {
	if n == 0 {
		return "0"
	}
	for _, s := range sizeSuffixes[:4] {
		if n >= s.factor && n%s.factor == 0 {
			return strconv.FormatInt(n/s.factor, 10) + s.text
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

// approximateSize writes a number of bytes for reading only: "99.6 GiB".
func approximateSize(n float64) string {
	for _, s := range sizeSuffixes[:4] {
		if n >= float64(s.factor) {
			return fmt.Sprintf("%.1f %s", n/float64(s.factor), s.text)
		}
	}
	return fmt.Sprintf("%.0f B", n)
}

func formatCount(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return strconv.FormatInt(n>>20, 10) + "Mi"
	}
	return strconv.FormatInt(n, 10)
}

// formatDuration leaves out the zero parts of time.Duration's text: "30m", not "30m0s".
func formatDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// formatValue writes the value that field points at.
func formatValue(u unit, field any) string {
	switch p := field.(type) {
	case *string:
		return *p
	case *bool:
		return strconv.FormatBool(*p)
	case *fs.FileMode:
		return fmt.Sprintf("%04o", uint32(*p))
	case *time.Duration:
		return formatDuration(*p)
	case *int, *int64:
		n, _ := number(p)
		if u == bytesUnit {
			return FormatSize(n)
		}
		return formatCount(n)
	}
	return ""
}

// number returns what field points at where that is a number; a duration counts nanoseconds.
func number(field any) (int64, bool) {
	switch p := field.(type) {
	case *int:
		return int64(*p), true
	case *int64:
		return *p, true
	case *time.Duration:
		return int64(*p), true
	}
	return 0, false
}

// parseValue reads text into what field points at. It checks the form only; Validate checks the range.
func parseValue(u unit, field any, text string) error {
	switch p := field.(type) {
	case *string:
		*p = text
	case *bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is not a switch; want true or false", text)
		}
		*p = b
	case *fs.FileMode:
		mode, ok := parseMode(text)
		if !ok {
			return fmt.Errorf("%q is not a mode; want three octal digits after a 0, such as 0660, and quotes around it in YAML", text)
		}
		*p = mode
	case *time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%q is not a duration; want a number with a unit, such as 500ms, 30s or 5m", text)
		}
		*p = d
	case *int:
		n, err := parseNumber(u, text)
		if err == nil && n > math.MaxInt {
			err = fmt.Errorf("%q is out of range", text)
		}
		if err != nil {
			return err
		}
		*p = int(n)
	case *int64:
		n, err := parseNumber(u, text)
		if err != nil {
			return err
		}
		*p = n
	}
	return nil
}

// parseMode reads permissions in octal. The leading 0 tells them from what YAML makes of a 0660 without quotes, 432.
func parseMode(text string) (fs.FileMode, bool) {
	n, err := strconv.ParseUint(text, 8, 32)
	return fs.FileMode(n), err == nil && len(text) == 4 && text[0] == '0'
}

func parseNumber(u unit, text string) (int64, error) {
	if u == bytesUnit {
		return ParseSize(text)
	}
	return parseCount(text)
}
