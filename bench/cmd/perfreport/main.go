// Command perfreport turns what ratios and rpcpairs have measured into the tables and pictures of docs/performance.md. It is
// a program of its own because a plotting library has memory of its own.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thriftpack/thriftpack/bench/rpc"
	"github.com/thriftpack/thriftpack/bench/suite"
)

func main() {
	var measured, document string
	c := &cobra.Command{
		Use: "perfreport", Short: "Write tables and pictures of what was measured into a document", Args: cobra.NoArgs, SilenceUsage: true,
		Long: `perfreport reads scenarios.json, change.json, growth.json and rpc.json, which ratios, ratios change, ratios growth and
rpcpairs have written with --json, and renews what stands in the document between "<!-- measured: NAME -->" and
"<!-- end -->". The pictures are written beside it.`,
		RunE: func(*cobra.Command, []string) error { return run(measured, document) },
	}
	c.Flags().StringVar(&measured, "measured", "", "folder of what was measured")
	c.Flags().StringVar(&document, "document", "../docs/performance.md", "the document")
	if err := c.Execute(); err != nil {
		os.Exit(1)
	}
}

// data is all that was measured.
type data struct {
	scenarios map[string]suite.Measurement // by id
	change    []suite.Change
	growth    []suite.Growth
	rpc       []rpc.Comparison
}

func run(measured, document string) error {
	d, err := readAll(measured)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(document) //nolint:gosec // the caller names it
	if err != nil {
		return fmt.Errorf("document: %w", err)
	}
	renewed, err := renew(string(text), d.sections())
	if err != nil {
		return fmt.Errorf("%s: %w", document, err)
	}
	if err := os.WriteFile(document, []byte(renewed), 0o644); err != nil { //nolint:gosec // a document is for all
		return fmt.Errorf("document: %w", err)
	}
	return d.draw(filepath.Dir(document))
}

func readAll(folder string) (*data, error) {
	d := &data{scenarios: make(map[string]suite.Measurement)}
	scenarios, err := read[suite.Measurement](folder, "scenarios.json")
	if err != nil {
		return nil, err
	}
	for _, m := range scenarios {
		if len(m.NanosecondsPerRun) < 3 {
			return nil, fmt.Errorf("%s: %d trials, want at least 3", m.Scenario, len(m.NanosecondsPerRun))
		}
		d.scenarios[m.Scenario] = m
	}
	if d.change, err = read[suite.Change](folder, "change.json"); err != nil {
		return nil, err
	}
	if d.growth, err = read[suite.Growth](folder, "growth.json"); err != nil {
		return nil, err
	}
	d.rpc, err = read[rpc.Comparison](folder, "rpc.json")
	return d, err
}

// read reads a file of JSON values.
func read[T any](folder, name string) ([]T, error) {
	file, err := os.Open(filepath.Join(folder, name)) //nolint:gosec // the caller names the folder
	if err != nil {
		return nil, fmt.Errorf("measured: %w", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	var all []T
	for decoder := json.NewDecoder(file); ; {
		var value T
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, value)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: nothing was measured", name)
	}
	return all, nil
}

// renew replaces what stands in the sections of a document. Every section must be there.
func renew(text string, sections map[string]string) (string, error) {
	const end = "<!-- end -->"
	for name, content := range sections {
		begin := "<!-- measured: " + name + " -->\n"
		before, rest, found := strings.Cut(text, begin)
		if !found {
			return "", fmt.Errorf("no section %q", name)
		}
		_, after, found := strings.Cut(rest, end)
		if !found {
			return "", fmt.Errorf("section %q does not end", name)
		}
		text = before + begin + content + end + after
	}
	return text, nil
}
