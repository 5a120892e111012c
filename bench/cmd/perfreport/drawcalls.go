package main

import (
	"cmp"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/thriftpack/thriftpack/bench/rpc"
)

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
	if most == 0 {
		return nil, errEmpty
	}
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.ConstantTicks{{Value: 1, Label: "1"}, {Value: 8, Label: "8"}, {Value: 64, Label: "64"}}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0.7, 90, least/2, most*1.4
	return p, nil
}

func (d *data) drawCallerCPU() (*plot.Plot, error) {
	p, err := d.drawCallers("Unary encode of 49 bytes, server CPU", "µs a call", rpc.MicrosecondsPerValue)
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

func (d *data) drawPayloadCall() (*plot.Plot, error) {
	p, err := d.drawPayloads("Server CPU of a call by what it carries", "µs a call", func(c *rpc.Comparison, side func(rpc.Pair) rpc.Outcome) float64 {
		return perExchange(c.Pairs, side)
	})
	if err == nil {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, powersOfTen{}
	}
	return p, err
}

func (d *data) drawPayloadByte() (*plot.Plot, error) {
	p, err := d.drawPayloads("The same for a byte of Thrift", "ns a byte", func(c *rpc.Comparison, side func(rpc.Pair) rpc.Outcome) float64 {
		return perExchange(c.Pairs, side) * 1e3 / float64(c.Bytes)
	})
	if err == nil {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, powersOfTen{}
		p.Legend.Left, p.Legend.XOffs = false, -vg.Points(8)
	}
	return p, err
}

// drawPayloads shows a figure of calls by what they carry.
func (d *data) drawPayloads(title, y string, figure func(*rpc.Comparison, func(rpc.Pair) rpc.Outcome) float64) (*plot.Plot, error) {
	p := newPlot(title, "bytes of Thrift", y)
	most, least := 0.0, math.Inf(1)
	for _, s := range []struct {
		shape string
		side  func(rpc.Pair) rpc.Outcome
		style
	}{
		{"Encode", rpc.Ours, style{"Encode", blue, vgdraw.CircleGlyph{}, nil}},
		{"Encode", rpc.Theirs, style{"its floor", grey, vgdraw.PlusGlyph{}, dashed}},
		{"EncodeStream", rpc.Ours, style{"EncodeStream", orange, vgdraw.TriangleGlyph{}, nil}},
		{"EncodeStream", rpc.Theirs, style{"its floor", grey, vgdraw.CrossGlyph{}, dashed}},
	} {
		var points plotter.XYs
		for i := range d.rpcGrowth {
			if c := &d.rpcGrowth[i]; callShape(c) == s.shape {
				value := figure(c, s.side)
				points = append(points, plotter.XY{X: float64(c.Bytes), Y: value})
				most, least = max(most, value), min(least, value)
			}
		}
		if err := addMarks(p, points, s.style, true); err != nil {
			return nil, err
		}
	}
	if most == 0 {
		return nil, errEmpty
	}
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, sizeTicks()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 24, 2<<30, least/3, most*30
	return p, nil
}
