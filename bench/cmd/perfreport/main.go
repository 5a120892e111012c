// Command perfreport turns what measure.sh has measured into the tables and pictures of docs/performance.md. It is a program of its
// own because a plotting library has memory of its own.
package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func main() {
	var measured, document string
	c := &cobra.Command{
		Use: "perfreport", Short: "Write tables and pictures of what was measured into a document", Args: cobra.NoArgs, SilenceUsage: true,
		Long: `perfreport reads the folder that measure.sh has filled, and renews what stands in the document between "<!-- measured: NAME -->"
and "<!-- end -->". The pictures are written beside it. What was not measured is named, and stays as it was. The document and the pictures
are replaced when all of them are made.

The last column of the table of goals is for people: a sentence on why a goal is missed stays there for as long as it is.`,
		RunE: func(c *cobra.Command, _ []string) error { return run(measured, document, c.ErrOrStderr()) },
	}
	c.Flags().StringVar(&measured, "measured", "", "folder of what was measured")
	c.Flags().StringVar(&document, "document", "../docs/performance.md", "the document")
	if err := c.Execute(); err != nil {
		os.Exit(1)
	}
}

func run(measured, document string, warnings io.Writer) error {
	d, err := readAll(measured)
	if err != nil {
		return err
	}
	for _, name := range d.missing {
		fmt.Fprintf(warnings, "%s: not measured; what stands in the document stays\n", name)
	}
	old, err := os.ReadFile(document) //nolint:gosec // the caller names it
	if err != nil {
		return fmt.Errorf("document: %w", err)
	}
	d.goalRows = goalRowsOf(string(old))
	renewed, err := renew(string(old), d.sections())
	if err != nil {
		return fmt.Errorf("%s: %w", document, err)
	}
	folder := filepath.Dir(document)
	made, err := os.MkdirTemp(folder, ".perfreport-") // where a file can be renamed from
	if err != nil {
		return fmt.Errorf("document: %w", err)
	}
	defer os.RemoveAll(made)                                                                                   //nolint:errcheck // an empty folder
	if err := os.WriteFile(filepath.Join(made, filepath.Base(document)), []byte(renewed), 0o644); err != nil { //nolint:gosec // a document is for all
		return fmt.Errorf("document: %w", err)
	}
	if err := d.draw(made); err != nil {
		return err
	}
	return replace(made, folder)
}

// replace moves all files of a folder into another one.
func replace(from, to string) error {
	files, err := os.ReadDir(from)
	if err != nil {
		return fmt.Errorf("document: %w", err)
	}
	for _, file := range files {
		if err := os.Rename(filepath.Join(from, file.Name()), filepath.Join(to, file.Name())); err != nil {
			return fmt.Errorf("document: %w", err)
		}
	}
	return nil
}

// The marks around a section of the document.
const (
	beginMark = "<!-- measured: %s -->\n"
	endMark   = "<!-- end -->"
)

var errSection = errors.New("no such section, or it does not end")

// cut splits a document around the contents of a section.
func cut(text, name string) (before, content, after string, err error) {
	begin := fmt.Sprintf(beginMark, name)
	before, rest, found := strings.Cut(text, begin)
	content, after, ends := strings.Cut(rest, endMark)
	if !found || !ends {
		return "", "", "", fmt.Errorf("%q: %w", name, errSection)
	}
	return before + begin, content, endMark + after, nil
}

// renew replaces what stands in the sections of a document. Every section must be there; one that is empty stays as it was.
func renew(text string, sections map[string]string) (string, error) {
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		before, content, after, err := cut(text, name)
		if err != nil {
			return "", err
		}
		if sections[name] != "" {
			content = sections[name]
		}
		text = before + content + after
	}
	return text, nil
}
