package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/thriftpack/thriftpack/bench/streaming"
)

// streamRuns is what both processes needed for each of the large streams.
func (d *data) streamRuns() string {
	if len(d.streams) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("```\n")
	_ = streaming.WriteHead(&out) // writing into memory does not fail
	for _, m := range d.streams {
		_ = streaming.WriteRow(&out, m)
	}
	out.WriteString("```\n")
	return out.String()
}

// The bounds of memory: how far the peaks of streams of several sizes may be apart, and above the idle server.
const (
	mostApart = 2 << 20
	mostAbove = 8 << 20
)

// plateauRows is what the server's memory does when streams of several sizes follow each other.
func (d *data) plateauRows() string {
	if len(d.plateaus) == 0 {
		return ""
	}
	var sizes []int64 // of all rows
	for i := range d.plateaus {
		for _, m := range d.plateaus[i].Runs {
			if size := m.Job.Bytes; !slices.Contains(sizes, size) {
				sizes = append(sizes, size)
			}
		}
	}
	slices.Sort(sizes)
	head := []string{"highest RssAnon in kB", "idle"}
	for _, size := range sizes {
		head = append(head, bytesText(size))
	}
	rows := make([][]string, 0, len(d.plateaus))
	for i := range d.plateaus {
		p := &d.plateaus[i]
		row := []string{p.Method + ", " + payloadName(p.Warmup.Job.Payload), kilobytes(p.Warmup.Server.Idle)}
		for _, size := range sizes {
			cell := "–"
			if i := slices.IndexFunc(p.Runs, func(m *streaming.Measurement) bool { return m.Job.Bytes == size }); i >= 0 {
				cell = kilobytes(p.Runs[i].Server.Peak)
			}
			row = append(row, cell)
		}
		rows = append(rows, append(row, bounded(p.Spread(), mostApart), bounded(p.Growth(), mostAbove)))
	}
	return table(append(head, "apart (≤ "+kilobytes(mostApart)+")", "above idle (≤ "+kilobytes(mostAbove)+")"), rows)
}

// payloadName is how a payload is written in a table.
func payloadName(payload string) string {
	if payload == streaming.Binary {
		return payload
	}
	return "list<" + payload + ">"
}

func kilobytes(n int64) string {
	text := strconv.FormatInt(n>>10, 10)
	if len(text) > 3 {
		text = text[:len(text)-3] + "," + text[len(text)-3:]
	}
	return text
}

// bounded is a size, and whether it is above a bound.
func bounded(n, most int64) string {
	if n > most {
		return kilobytes(n) + ", **missed**"
	}
	return kilobytes(n)
}

// streamGoals are the least ratios of our speed to that of a server that only moves the bytes.
var streamGoals = map[string]float64{streaming.EncodeStream: 0.9, streaming.EncodeParts: 0.8, streaming.DecodeParts: 0.8}

// streamPairRows is the speed of large streams beside a server that only moves the bytes.
func (d *data) streamPairRows() string {
	rows := make([][]string, 0, len(d.pairs))
	for i := range d.pairs {
		job, pairs := &d.pairs[i].Job, d.pairs[i].Pairs
		ratios, ours, theirs := make([]float64, len(pairs)), make([]time.Duration, len(pairs)), make([]time.Duration, len(pairs))
		for i, p := range pairs {
			ratios[i], ours[i], theirs[i] = p.Ratio(), p.Ours.Server, p.Theirs.Server
		}
		chunks := "default"
		if job.ChunkSize > 0 {
			chunks = bytesText(int64(job.ChunkSize))
		}
		client, goal := map[string]string{streaming.Stock: "stock", streaming.Lean: "counts only"}[job.Client], streamGoals[job.Method]
		median := number(streaming.Median(ratios))
		if streaming.Median(ratios) < goal {
			median += ", **missed**"
		}
		perGiB := func(times []time.Duration) float64 {
			return streaming.PerGiB(streaming.Median(times), job.Bytes).Seconds()
		}
		rows = append(rows, []string{
			job.Method + ", " + payloadName(job.Payload), chunks, client, fmt.Sprintf("%g", goal), median,
			number(slices.Min(ratios)) + " .. " + number(slices.Max(ratios)), fmt.Sprintf("%.3f / %.3f", perGiB(ours), perGiB(theirs)),
		})
	}
	if len(rows) == 0 {
		return ""
	}
	return table([]string{"speed, ours / raw", "chunks", "client", "to reach", "median", "range", "server CPU s/GiB, ours / raw"}, rows)
}
