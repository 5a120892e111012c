package main

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/thriftpack/thriftpack/bench/streaming"
)

// memoryLines are how the memory of each kind of server is drawn.
var memoryLines = []struct {
	mode string
	style
}{
	{streaming.Fresh, style{"a new chunk for each send", orange, nil, nil}},
	{streaming.Raw, style{"raw: moves bytes only", grey, nil, dashed}},
	{streaming.Thriftpack, style{"chunks reused", blue, nil, nil}},
}

// memoryPanels are a panel for each stream, of what the server's memory does meanwhile.
func (d *data) memoryPanels() []func(*data) (*plot.Plot, error) {
	var panels []func(*data) (*plot.Plot, error)
	var drawn []string
	for _, m := range d.streams {
		title := streamTitle(m)
		if slices.Contains(drawn, title) {
			continue
		}
		drawn = append(drawn, title)
		panels = append(panels, func(d *data) (*plot.Plot, error) { return d.drawMemory(title) })
	}
	return panels
}

func streamTitle(m *streaming.Measurement) string {
	return m.Job.Method + ", " + m.Job.Payload + ", " + bytesText(m.Job.Bytes)
}

func (d *data) drawMemory(title string) (*plot.Plot, error) {
	p := newPlot(title, "seconds", "RssAnon of the server, MiB")
	top := int64(0)
	for _, m := range d.streams {
		top = max(top, m.Server.Peak)
	}
	for _, l := range memoryLines {
		i := slices.IndexFunc(d.streams, func(m *streaming.Measurement) bool { return m.Job.Mode == l.mode && streamTitle(m) == title })
		if i < 0 {
			continue
		}
		points := plotter.XYs{{X: 0, Y: mebibytes(d.streams[i].Server.Idle)}}
		for _, s := range d.streams[i].Samples {
			points = append(points, plotter.XY{X: s.At.Seconds(), Y: mebibytes(s.Server)})
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return nil, fmt.Errorf("plot: %w", err)
		}
		line.Color, line.Dashes, line.Width = l.color, l.dashes, vg.Points(1.5)
		p.Add(line)
		p.Legend.Add(l.name, line)
	}
	p.X.Min, p.Y.Min, p.Y.Max = 0, 0, mebibytes(top)*1.1
	return p, nil
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }
