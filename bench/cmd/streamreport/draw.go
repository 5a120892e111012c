package main

import (
	"fmt"
	"image/color"
	"os"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/thriftpack/thriftpack/bench/streaming"
)

// The size of the picture.
const (
	panelWidth = 5 * vg.Inch
	height     = 4 * vg.Inch
	resolution = 110 // dots per inch
)

// line is how the memory of one kind of server is drawn. The colours differ in lightness too, and each has its own dashes.
type line struct {
	mode, name string
	color      color.Color
	dashes     []vg.Length
}

var lines = []line{
	{streaming.Fresh, "a new chunk for each send", color.RGBA{R: 0xd5, G: 0x5e, A: 0xff}, nil},
	{streaming.Raw, "raw: moves bytes only", color.RGBA{R: 0x80, G: 0x80, B: 0x80, A: 0xff}, []vg.Length{vg.Points(5), vg.Points(3)}},
	{streaming.Thriftpack, "chunks reused", color.RGBA{G: 0x72, B: 0xb2, A: 0xff}, nil},
}

// sans is a font that is legible in small sizes.
func sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// draw writes a PNG with a panel for each method.
func draw(file string, measurements []*streaming.Measurement) error {
	var panels []*plot.Plot
	top := 0.0
	var drawn []string
	for _, m := range measurements {
		title := m.Job.Method + ", " + m.Job.Payload
		if slices.Contains(drawn, title) {
			continue
		}
		drawn = append(drawn, title)
		p, most, err := panel(title, measurements)
		if err != nil {
			return err
		}
		top = max(top, most)
		panels = append(panels, p)
	}
	for _, p := range panels {
		p.Y.Min, p.Y.Max = 0, top*1.45 // with room for the legend
		p.X.Min = 0
	}
	return write(file, panels)
}

// panel draws all servers of one method and returns the most memory.
func panel(title string, measurements []*streaming.Measurement) (*plot.Plot, float64, error) {
	p := plot.New()
	p.X.Label.Text = "seconds"
	p.Y.Label.Text = "RssAnon of the server, MiB"
	p.Legend.Top = true
	p.Legend.XOffs, p.Legend.YOffs = -vg.Points(8), -vg.Points(4)
	p.Legend.Padding = vg.Points(3)
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.Legend.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		style.Font = sans(style.Font.Size)
	}
	p.Add(plotter.NewGrid())
	top := 0.0
	for _, l := range lines {
		i := slices.IndexFunc(measurements, func(m *streaming.Measurement) bool {
			return m.Job.Mode == l.mode && m.Job.Method+", "+m.Job.Payload == title
		})
		if i < 0 {
			continue
		}
		m := measurements[i]
		p.Title.Text = fmt.Sprintf("%s, %.2f GiB", title, float64(m.Outcome.Bytes)/(1<<30))
		points := plotter.XYs{{X: 0, Y: mebibytes(m.Server.Idle)}}
		for _, s := range m.Samples {
			points = append(points, plotter.XY{X: s.At.Seconds(), Y: mebibytes(s.Server)})
		}
		drawn, err := plotter.NewLine(points)
		if err != nil {
			return nil, 0, fmt.Errorf("plot: %w", err)
		}
		drawn.Color, drawn.Dashes, drawn.Width = l.color, l.dashes, vg.Points(1.5)
		p.Add(drawn)
		p.Legend.Add(l.name, drawn)
		top = max(top, mebibytes(m.Server.Peak))
	}
	return p, top, nil
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }

// write draws the panels side by side.
func write(file string, panels []*plot.Plot) (err error) {
	picture := vgimg.NewWith(vgimg.UseWH(panelWidth*vg.Length(len(panels)), height), vgimg.UseDPI(resolution))
	tiles := vgdraw.Tiles{Rows: 1, Cols: len(panels), PadX: vg.Points(16), PadTop: vg.Points(6), PadBottom: vg.Points(6), PadLeft: vg.Points(6), PadRight: vg.Points(10)}
	for i, canvas := range plot.Align([][]*plot.Plot{panels}, tiles, vgdraw.New(picture))[0] {
		panels[i].Draw(canvas)
	}
	out, err := os.Create(file) //nolint:gosec // the caller names it
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	defer func() {
		if closeErr := out.Close(); err == nil {
			err = closeErr
		}
	}()
	if _, err := (vgimg.PngCanvas{Canvas: picture}).WriteTo(out); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}
