package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thriftpack/thriftpack/bench/profile"
	"github.com/thriftpack/thriftpack/bench/rpc"
	"github.com/thriftpack/thriftpack/bench/streaming"
	"github.com/thriftpack/thriftpack/bench/suite"
)

// data is all that was measured.
type data struct {
	scenarios map[string]suite.Measurement // by id
	change    []suite.Change
	growth    []suite.Growth
	rpc       []rpc.Comparison
	rpcGrowth []rpc.Comparison
	streams   []*streaming.Measurement
	plateaus  []streaming.Plateau
	pairs     []streamPairs
	profiles  []*profile.Summary
	// machine is when it was measured, of which commit, and the load average before; empty where that is not known.
	machine []string
	// missing are the files that are not there.
	missing []string
	// goalRows are the rows of the goals in the document as it was, by the goal: what people have written in the last cell stays, and
	// all of it where nothing was measured.
	goalRows map[string][]string
}

// streamPairs are the pairs of a stream.
type streamPairs struct {
	Job   streaming.Job    `json:"job"`
	Pairs []streaming.Pair `json:"pairs"`
}

// functions is how many functions of a profile are told.
const functions = 12

var errNothing = errors.New("nothing was measured")

// readAll reads what there is in a folder.
func readAll(folder string) (*data, error) {
	d := &data{scenarios: make(map[string]suite.Measurement)}
	var scenarios []suite.Measurement
	if err := errors.Join(
		read(d, folder, &scenarios, "codecs-structs.json", "codecs-bulk.json", "json.json"),
		read(d, folder, &d.change, "change.json"), read(d, folder, &d.growth, "growth.json"),
		read(d, folder, &d.rpc, "calls-small.json", "calls-large.json", "calls-batches.json", "calls-unary.json", "calls-streams.json"),
		read(d, folder, &d.rpcGrowth, "calls-growth.json"), read(d, folder, &d.streams, "streams.json"),
		read(d, folder, &d.plateaus, "plateau.json", "plateau-i64.json"), read(d, folder, &d.pairs, "streampairs.json", "streampairs-chunks.json"),
	); err != nil {
		return nil, err
	}
	for _, m := range scenarios {
		if len(m.NanosecondsPerRun) < 3 {
			return nil, fmt.Errorf("%s: %d trials, want at least 3", m.Scenario, len(m.NanosecondsPerRun))
		}
		d.scenarios[m.Scenario] = m
	}
	files, err := filepath.Glob(filepath.Join(folder, "profiles", "*"+profile.Extension))
	if err != nil {
		return nil, fmt.Errorf("measured: %w", err)
	}
	slices.Sort(files)
	for _, file := range files {
		summary, err := profile.ReadFile(file, functions)
		if err != nil {
			return nil, err
		}
		d.profiles = append(d.profiles, summary)
	}
	if len(files) == 0 {
		d.missing = append(d.missing, "profiles")
	}
	if text, err := os.ReadFile(filepath.Join(folder, "machine.txt")); err == nil { //nolint:gosec // the caller names the folder
		d.machine = strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	if len(d.scenarios)+len(d.change)+len(d.growth)+len(d.rpc)+len(d.rpcGrowth)+len(d.streams)+len(d.plateaus)+len(d.pairs)+len(d.profiles) == 0 {
		return nil, fmt.Errorf("%s: %w", folder, errNothing)
	}
	return d, nil
}

// read appends the JSON values of files to a list. A file that is not there is missing.
func read[T any](d *data, folder string, into *[]T, names ...string) error {
	for _, name := range names {
		file, err := os.Open(filepath.Join(folder, name)) //nolint:gosec // the caller names the folder
		if errors.Is(err, fs.ErrNotExist) {
			d.missing = append(d.missing, name)
			continue
		}
		if err != nil {
			return fmt.Errorf("measured: %w", err)
		}
		values, err := decode[T](file)
		_ = file.Close() // it was only read
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		*into = append(*into, values...)
	}
	return nil
}

func decode[T any](in io.Reader) ([]T, error) {
	var all []T
	for decoder := json.NewDecoder(in); ; {
		var value T
		switch err := decoder.Decode(&value); {
		case errors.Is(err, io.EOF) && len(all) == 0:
			return nil, errNothing
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, value)
	}
}
