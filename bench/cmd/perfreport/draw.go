package main

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/thriftpack/thriftpack/bench/rpc"
	"github.com/thriftpack/thriftpack/bench/suite"
)

// The size of the pictures.
const (
	panelWidth  = 5 * vg.Inch
	panelHeight = 4 * vg.Inch
	resolution  = 110 // dots per inch
)

// style is how one line or mark is drawn. The colours differ in lightness too, and each has its own shape.
type style struct {
	name   string
	color  color.Color
	shape  vgdraw.GlyphDrawer
	dashes []vg.Length
}

var (
	blue   = color.RGBA{G: 0x72, B: 0xb2, A: 0xff}
	sky    = color.RGBA{R: 0x56, G: 0xb4, B: 0xe9, A: 0xff}
	orange = color.RGBA{R: 0xd5, G: 0x5e, A: 0xff}
	yellow = color.RGBA{R: 0xe6, G: 0x9f, A: 0xff}
	green  = color.RGBA{G: 0x9e, B: 0x73, A: 0xff}
	grey   = color.RGBA{R: 0x80, G: 0x80, B: 0x80, A: 0xff}

	dashed = []vg.Length{vg.Points(5), vg.Points(3)}
)

var familyStyles = map[string]style{
	"tp":        {"thriftpack, from wire bytes", blue, vgdraw.CircleGlyph{}, nil},
	"tpwchunk":  {"thriftpack's Writer, chunks", sky, vgdraw.SquareGlyph{}, nil},
	"tpw":       {"thriftpack's Writer, any", sky, vgdraw.RingGlyph{}, nil},
	"apache":    {"Apache Go", orange, vgdraw.TriangleGlyph{}, nil},
	"protobuf":  {"proto.Unmarshal + Apache Go", orange, vgdraw.CrossGlyph{}, nil},
	"segmentio": {"segmentio", yellow, vgdraw.PyramidGlyph{}, nil},
	"cpp":       {"Apache C++, templated", green, vgdraw.BoxGlyph{}, nil},
	"memcpy":    {"memcpy", grey, vgdraw.PlusGlyph{}, nil},
}

// draw writes all pictures into a folder.
func (d *data) draw(folder string) error {
	for _, picture := range []struct {
		file   string
		panels []func() (*plot.Plot, error)
	}{
		{"performance-structs.png", []func() (*plot.Plot, error){d.drawStructs}},
		{"performance-bulk.png", []func() (*plot.Plot, error){d.drawBulk}},
		{"performance-growth.png", []func() (*plot.Plot, error){d.drawGrowth}},
		{"performance-callers.png", []func() (*plot.Plot, error){d.drawCallerCPU, d.drawCallerLatency}},
	} {
		panels := make([]*plot.Plot, len(picture.panels))
		for i, panel := range picture.panels {
			var err error
			if panels[i], err = panel(); err != nil {
				return fmt.Errorf("%s: %w", picture.file, err)
			}
		}
		if err := write(filepath.Join(folder, picture.file), panels); err != nil {
			return fmt.Errorf("%s: %w", picture.file, err)
		}
	}
	return nil
}

// newPlot is an empty plot in a font that is legible in small sizes.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.XOffs, p.Legend.YOffs = vg.Points(8), -vg.Points(4)
	p.Legend.Padding = vg.Points(3)
	for _, s := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.Legend.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		s.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: s.Font.Size}
	}
	p.Add(plotter.NewGrid())
	return p
}

// powersOfTen are ticks with plain numbers at 0.1, 1, 10 and so on.
type powersOfTen struct{}

// Ticks implements plot.Ticker.
func (powersOfTen) Ticks(least, most float64) []plot.Tick {
	var ticks []plot.Tick
	for exponent := math.Ceil(math.Log10(least)); exponent <= math.Log10(most); exponent++ {
		value := math.Pow(10, exponent)
		ticks = append(ticks, plot.Tick{Value: value, Label: strconv.FormatFloat(value, 'f', -1, 64)})
	}
	return ticks
}

// addMarks draws points, and lines between them where joined.
func addMarks(p *plot.Plot, points plotter.XYs, s style, joined bool) error {
	if len(points) == 0 {
		return nil
	}
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	marks.Shape, marks.Color, marks.Radius = s.shape, s.color, vg.Points(4)
	if !joined {
		p.Add(marks)
		p.Legend.Add(s.name, marks)
		return nil
	}
	line.Color, line.Dashes, line.Width = s.color, s.dashes, vg.Points(1.5)
	p.Add(line, marks)
	p.Legend.Add(s.name, line, marks)
	return nil
}

// drawStructs shows how many times as fast as Apache Go everyone is, small and large.
func (d *data) drawStructs() (*plot.Plot, error) {
	p := newPlot("Structs, compact protocol", "", "times as fast as Apache Go")
	groups := []struct{ group, name string }{
		{"cmp-write-small", "write small"}, {"cmp-write-large", "write large"}, {"cmp-read-small", "read small"}, {"cmp-read-large", "read large"},
	}
	ticks := make([]plot.Tick, 0, len(groups))
	most := 1.0
	for i, g := range groups {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: g.name})
	}
	for _, family := range []string{"tp", "tpwchunk", "tpw", "cpp", "segmentio", "apache", "protobuf"} {
		var points plotter.XYs
		for i, g := range groups {
			m, found := d.scenarios[family+"-"+g.group]
			apache, both := d.scenarios["apache-"+g.group]
			if found && both {
				ratio := suite.Median(suite.Ratios(&m, &apache))
				points = append(points, plotter.XY{X: float64(i), Y: ratio})
				most = max(most, ratio)
			}
		}
		if err := addMarks(p, points, familyStyles[family], false); err != nil {
			return nil, err
		}
	}
	p.X.Tick.Marker, p.Y.Tick.Marker, p.Y.Scale = plot.ConstantTicks(ticks), powersOfTen{}, plot.LogScale{}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(len(groups))-0.5, 0.02, most*500
	return p, nil
}

// drawBulk shows the speed of writing in bulk.
func (d *data) drawBulk() (*plot.Plot, error) {
	p := newPlot("Bulk, writing the compact protocol", "", "MB/s")
	ticks := make([]plot.Tick, 0, len(bulkSizes))
	labels := []string{"i64", "i32", "double", "string", "struct", "map", "binary"}
	for i := range bulkSizes {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: labels[i]})
	}
	for _, family := range []string{"memcpy", "tp", "tpwchunk", "cpp", "apache", "segmentio"} {
		var points plotter.XYs
		for i, bulk := range bulkSizes {
			if m, found := d.scenarios[family+"-cmp-write-"+bulk.size]; found {
				points = append(points, plotter.XY{X: float64(i), Y: m.Speed()})
			}
		}
		if err := addMarks(p, points, familyStyles[family], false); err != nil {
			return nil, err
		}
	}
	p.X.Tick.Marker, p.Y.Tick.Marker, p.Y.Scale = plot.ConstantTicks(ticks), powersOfTen{}, plot.LogScale{}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(len(bulkSizes))-0.5, 50, 2e6
	return p, nil
}

// drawGrowth shows the cost of a byte by the size of the payload.
func (d *data) drawGrowth() (*plot.Plot, error) {
	p := newPlot("The encoder alone, into a reused buffer of 32 KiB", "bytes of the payload", "ns a byte")
	most := 0.0
	var ticks plot.ConstantTicks
	for _, s := range []style{{"list<struct>", orange, vgdraw.TriangleGlyph{}, dashed}, {"list<i64>", blue, vgdraw.CircleGlyph{}, nil}} {
		var points plotter.XYs
		for i := range d.growth {
			if g := &d.growth[i]; g.Payload == s.name {
				points = append(points, plotter.XY{X: float64(g.Size), Y: g.Median()})
				most = max(most, g.Median())
			}
		}
		if err := addMarks(p, points, s, true); err != nil {
			return nil, err
		}
	}
	for _, t := range []struct {
		exponent int
		label    string
	}{{6, "64 B"}, {10, "1 KiB"}, {14, "16 KiB"}, {18, "256 KiB"}, {22, "4 MiB"}, {26, "64 MiB"}, {30, "1 GiB"}} {
		ticks = append(ticks, plot.Tick{Value: math.Exp2(float64(t.exponent)), Label: t.label})
	}
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, ticks
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 32, 2<<30, 0, most*1.4
	p.Legend.Left = false
	p.Legend.XOffs = -vg.Points(8)
	return p, nil
}

// caller lines: ours, and the two others.
var callerStyles = []struct {
	against string
	side    func(rpc.Pair) rpc.Outcome
	style
}{
	{rpc.Ordinary, rpc.Theirs, style{"the ordinary way", orange, vgdraw.TriangleGlyph{}, dashed}},
	{rpc.Floor, rpc.Ours, style{"thriftpack", blue, vgdraw.CircleGlyph{}, nil}},
	{rpc.Floor, rpc.Theirs, style{"the floor", grey, vgdraw.PlusGlyph{}, dashed}},
}

// drawCallers shows a figure of encode/small by how many call.
func (d *data) drawCallers(title, y string, figure func([]rpc.Pair, func(rpc.Pair) rpc.Outcome) float64) (*plot.Plot, error) {
	p := newPlot(title, "callers", y)
	most, least := 0.0, math.Inf(1)
	for _, s := range callerStyles {
		var points plotter.XYs
		for i := range d.rpc {
			if c := &d.rpc[i]; c.Workload == "encode/small" && c.Against == s.against {
				points = append(points, plotter.XY{X: float64(c.Callers), Y: figure(c.Pairs, s.side)})
				most, least = max(most, points[len(points)-1].Y), min(least, points[len(points)-1].Y)
			}
		}
		slices.SortFunc(points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		if err := addMarks(p, points, s.style, true); err != nil {
			return nil, err
		}
	}
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.ConstantTicks{{Value: 1, Label: "1"}, {Value: 8, Label: "8"}, {Value: 64, Label: "64"}}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0.7, 90, least/2, most*1.4
	return p, nil
}

func (d *data) drawCallerCPU() (*plot.Plot, error) {
	p, err := d.drawCallers("Unary encode of 49 bytes", "CPU µs of the server for a call", rpc.MicrosecondsPerValue)
	if err == nil {
		p.Y.Min = 0
	}
	return p, err
}

func (d *data) drawCallerLatency() (*plot.Plot, error) {
	p, err := d.drawCallers("Unary encode of 49 bytes, p99", "ms", func(pairs []rpc.Pair, side func(rpc.Pair) rpc.Outcome) float64 {
		return float64(rpc.MedianOf(pairs, func(p rpc.Pair) time.Duration { return side(p).P99 })) / 1e6
	})
	if err == nil {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, powersOfTen{}
	}
	return p, err
}

// write draws the panels side by side.
func write(file string, panels []*plot.Plot) (err error) {
	picture := vgimg.NewWith(vgimg.UseWH(panelWidth*vg.Length(len(panels)+1)*3/4, panelHeight), vgimg.UseDPI(resolution))
	tiles := vgdraw.Tiles{Rows: 1, Cols: len(panels), PadX: vg.Points(16), PadTop: vg.Points(6), PadBottom: vg.Points(6), PadLeft: vg.Points(6), PadRight: vg.Points(10)}
	for i, canvas := range plot.Align([][]*plot.Plot{panels}, tiles, vgdraw.New(picture))[0] {
		panels[i].Draw(canvas)
	}
	out, err := os.Create(file) //nolint:gosec // the caller names the folder
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := out.Close(); err == nil {
			err = closeErr
		}
	}()
	_, err = (vgimg.PngCanvas{Canvas: picture}).WriteTo(out)
	return err
}
