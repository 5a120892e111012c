package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/spf13/cobra"

	"github.com/thriftpack/thriftpack/bench/profile"
	"github.com/thriftpack/thriftpack/bench/suite"
)

// profileFlags say what is profiled, and how.
type profileFlags struct {
	scenarios string
	duration  time.Duration
	functions int
	folder    string
}

func profileCommand() *cobra.Command {
	var f profileFlags
	c := &cobra.Command{
		Use: "profile", Short: "Print which functions take the CPU time of scenarios", Args: cobra.NoArgs,
		Long: `profile runs each scenario alone for a while, and prints the functions with the most CPU time of their own. With --folder it leaves
each profile in a file, ID.pprof, for "go tool pprof".`,
		RunE: func(c *cobra.Command, _ []string) error { return runProfiles(c.Context(), c.OutOrStdout(), &f) },
	}
	c.Flags().StringVar(&f.scenarios, "scenarios", "", "ids of the scenarios, with commas between them; * is any run of characters")
	c.Flags().DurationVar(&f.duration, "duration", 3*time.Second, "how long each of them runs")
	c.Flags().IntVar(&f.functions, "functions", 12, "how many functions to print")
	c.Flags().StringVar(&f.folder, "folder", "", "folder for the profiles themselves")
	return c
}

var errProfile = errors.New("--scenarios, a --duration and --functions must be given")

func runProfiles(ctx context.Context, out io.Writer, f *profileFlags) error {
	if f.scenarios == "" || f.duration <= 0 || f.functions < 1 {
		return errProfile
	}
	keep, err := suite.ParseSelect(f.scenarios)
	if err != nil {
		return fmt.Errorf("--scenarios: %w", err)
	}
	for group, err := range suite.Groups(keep, nil) { // what runs elsewhere cannot be profiled here
		if err != nil {
			return err
		}
		for _, contender := range group.Contenders {
			data, err := profiled(ctx, contender, f.duration)
			if err != nil {
				return fmt.Errorf("%s: %w", group.ID(contender.Family), err)
			}
			summary, err := profile.Read(bytes.NewReader(data), group.ID(contender.Family), f.functions)
			if err != nil {
				return err
			}
			if err := summary.Write(out); err != nil {
				return err
			}
			if f.folder == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(f.folder, summary.Name+profile.Extension), data, 0o600); err != nil {
				return fmt.Errorf("profile: %w", err)
			}
		}
	}
	return nil
}

// profiled runs a contender for a while, after a tenth of that which does not count, and returns the profile.
func profiled(ctx context.Context, contender suite.Contender, duration time.Duration) ([]byte, error) {
	if err := during(ctx, contender, duration/10); err != nil {
		return nil, err
	}
	runtime.GC() // nobody pays for how the payload was made
	out := new(bytes.Buffer)
	if err := pprof.StartCPUProfile(out); err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	err := during(ctx, contender, duration)
	pprof.StopCPUProfile()
	return out.Bytes(), err
}

// during runs a contender again and again, more often each time while a turn takes less than a tenth of the duration.
func during(ctx context.Context, contender suite.Contender, duration time.Duration) error {
	runs, end := 1, time.Now().Add(duration)
	for {
		start := time.Now()
		if err := contender.Run(runs); err != nil {
			return err
		}
		now := time.Now()
		if !now.Before(end) || ctx.Err() != nil {
			return ctx.Err()
		}
		if now.Sub(start) < duration/10 {
			runs *= 2
		}
	}
}
