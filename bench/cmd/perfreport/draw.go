package main

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

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
	"tp":        {"thriftpack, wire bytes", blue, vgdraw.CircleGlyph{}, nil},
	"tpwchunk":  {"thriftpack's Writer, chunks", sky, vgdraw.SquareGlyph{}, nil},
	"tpw":       {"thriftpack's Writer, any", sky, vgdraw.RingGlyph{}, nil},
	"apache":    {"Apache Go", orange, vgdraw.TriangleGlyph{}, nil},
	"protobuf":  {"protobuf + Apache Go", orange, vgdraw.CrossGlyph{}, nil},
	"segmentio": {"segmentio", yellow, vgdraw.PyramidGlyph{}, nil},
	"cpp":       {"Apache C++, templated", green, vgdraw.BoxGlyph{}, nil},
	"memcpy":    {"memcpy", grey, vgdraw.PlusGlyph{}, nil},
}

// picture is a file of panels side by side. Where they share a legend it stands beside them, otherwise each has its own.
type picture struct {
	file   string
	shared bool
	panels []func(*data) (*plot.Plot, error)
}

var pictures = []picture{
	{"performance-structs.png", true, []func(*data) (*plot.Plot, error){(*data).drawStructs}},
	{"performance-bulk.png", true, []func(*data) (*plot.Plot, error){(*data).drawBulkWrite, (*data).drawBulkRead}},
	{"performance-growth.png", false, []func(*data) (*plot.Plot, error){(*data).drawGrowth}},
	{"performance-callers.png", false, []func(*data) (*plot.Plot, error){(*data).drawCallerCPU, (*data).drawCallerLatency}},
	{"performance-payloads.png", false, []func(*data) (*plot.Plot, error){(*data).drawPayloadCall, (*data).drawPayloadByte}},
	{"performance-memory.png", true, nil},
}

// errEmpty is returned for a panel of something that was not measured.
var errEmpty = errors.New("nothing to draw")

// draw writes all pictures of what was measured into a folder.
func (d *data) draw(folder string) error {
	for _, picture := range pictures {
		makers := picture.panels
		if makers == nil {
			makers = d.memoryPanels()
		}
		panels := make([]*plot.Plot, len(makers))
		var err error
		for i, panel := range makers {
			if panels[i], err = panel(d); err != nil {
				break
			}
		}
		if errors.Is(err, errEmpty) || len(panels) == 0 {
			continue
		}
		if err == nil {
			err = write(filepath.Join(folder, picture.file), panels, picture.shared)
		}
		if err != nil {
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
	groups := []string{"cmp-write-small", "cmp-write-large", "cmp-read-small", "cmp-read-large"}
	p, err := d.drawFamilies("Structs, compact protocol", "speed / Apache Go", groups,
		[]string{"write small", "write large", "read small", "read large"}, func(m *suite.Measurement, group string) (float64, bool) {
			apache, found := d.scenarios["apache-"+group]
			if !found {
				return 0, false
			}
			return suite.Median(suite.Ratios(m, &apache)), true
		}, []string{"cpp", "tpwchunk", "tp", "tpw", "segmentio", "apache", "protobuf"})
	if err == nil {
		p.Y.Min, p.Y.Max = 0.03, 20
	}
	return p, err
}

func (d *data) drawBulkWrite() (*plot.Plot, error) { return d.drawBulk("write") }
func (d *data) drawBulkRead() (*plot.Plot, error)  { return d.drawBulk("read") }

// drawBulk shows the speed of an operation in bulk.
func (d *data) drawBulk(operation string) (*plot.Plot, error) {
	groups := make([]string, len(bulkSizes))
	for i := range bulkSizes {
		groups[i] = "cmp-" + operation + "-" + bulkSizes[i].size
	}
	p, err := d.drawFamilies("Bulk, "+operation, "MB/s", groups, []string{"i64", "i32", "double", "string", "struct", "map", "binary"},
		func(m *suite.Measurement, _ string) (float64, bool) { return m.Speed(), true },
		[]string{"memcpy", "tp", "tpwchunk", "cpp", "apache", "segmentio"})
	if err == nil {
		p.Y.Min, p.Y.Max = 30, 5e4
	}
	return p, err
}

// drawFamilies shows a figure of each family, on a scale of powers of ten, for some groups.
func (d *data) drawFamilies(
	title, y string, groups, labels []string, figure func(*suite.Measurement, string) (float64, bool), families []string,
) (*plot.Plot, error) {
	p := newPlot(title, "", y)
	ticks, empty := make([]plot.Tick, len(groups)), true
	for i := range groups {
		ticks[i] = plot.Tick{Value: float64(i), Label: labels[i]}
	}
	for _, family := range families {
		points := plotter.XYs{}
		for i, group := range groups {
			m, found := d.scenarios[family+"-"+group]
			if !found {
				continue
			}
			if f, found := figure(&m, group); found {
				points, empty = append(points, plotter.XY{X: float64(i), Y: f}), false
			}
		}
		if err := addMarks(p, points, familyStyles[family], false); err != nil {
			return nil, err
		}
	}
	if empty {
		return nil, errEmpty
	}
	p.X.Tick.Marker, p.Y.Tick.Marker, p.Y.Scale = plot.ConstantTicks(ticks), powersOfTen{}, plot.LogScale{}
	p.X.Min, p.X.Max = -0.5, float64(len(groups))-0.5
	return p, nil
}

// drawGrowth shows the cost of a byte by the size of the payload.
func (d *data) drawGrowth() (*plot.Plot, error) {
	p := newPlot("The encoder alone, into a reused buffer of 32 KiB", "bytes of the payload", "ns a byte")
	most := 0.0
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
	if most == 0 {
		return nil, errEmpty
	}
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, sizeTicks()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 32, 2<<30, 0, most*1.4
	p.Legend.Left = false
	p.Legend.XOffs = -vg.Points(8)
	return p, nil
}

// sizeTicks are sizes of payloads from 64 bytes to 1 GiB.
func sizeTicks() plot.ConstantTicks {
	sizes := []struct {
		exponent int
		label    string
	}{{6, "64 B"}, {10, "1 KiB"}, {14, "16 KiB"}, {18, "256 KiB"}, {22, "4 MiB"}, {26, "64 MiB"}, {30, "1 GiB"}}
	ticks := make(plot.ConstantTicks, len(sizes))
	for i, s := range sizes {
		ticks[i] = plot.Tick{Value: math.Exp2(float64(s.exponent)), Label: s.label}
	}
	return ticks
}

// legendWidth is the room of a legend beside the panels.
const legendWidth = 2.4 * vg.Inch

// write draws the panels side by side.
func write(file string, panels []*plot.Plot, shared bool) (err error) {
	width := panelWidth * vg.Length(len(panels)+1) * 3 / 4
	beside := vg.Length(0)
	legend := panels[0].Legend
	if shared {
		beside = legendWidth
		for _, p := range panels {
			p.Legend = plot.NewLegend()
		}
	}
	picture := vgimg.NewWith(vgimg.UseWH(width+beside, panelHeight), vgimg.UseDPI(resolution))
	whole := vgdraw.New(picture)
	tiles := vgdraw.Tiles{Rows: 1, Cols: len(panels), PadX: vg.Points(16), PadTop: vg.Points(6), PadBottom: vg.Points(6), PadLeft: vg.Points(6), PadRight: vg.Points(10)}
	for i, canvas := range plot.Align([][]*plot.Plot{panels}, tiles, vgdraw.Crop(whole, 0, -beside, 0, 0))[0] {
		panels[i].Draw(canvas)
	}
	if shared {
		legend.Top, legend.Left, legend.XOffs, legend.YOffs = true, true, 0, 0
		legend.Draw(vgdraw.Crop(whole, width, 0, 0, -vg.Points(40)))
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
