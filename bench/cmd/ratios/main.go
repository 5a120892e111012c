// Command ratios runs the scenarios of the suite in the manner of Apache Thrift's protocol benchmarks, and prints what each
// needs and the ratios between them.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/thriftpack/thriftpack/bench/suite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := command().ExecuteContext(ctx)
	stop()
	if err != nil {
		os.Exit(1)
	}
}

type flags struct {
	scenarios string
	smallRuns int
	largeRuns int
	bulkRuns  int
	trials    int
	json      bool
}

// environment begins the names of the variables: THRIFTPACK_BENCHMARK_SMALL_RUNS is --small-runs.
const environment = "THRIFTPACK_BENCHMARK_"

const long = `ratios compares the encoder and the decoder with their peers, in one run, on one machine.

A scenario's id is family-protocol-operation-size:

  family     tp: from or to the wire bytes of a Value, which is what the service does
             tpw: encoder.Writer driven by Go values, into any io.Writer; tpwchunk: into chunks,
                 and lists of scalars by one call, where tpw makes one for each element
             perbyte, pervarint: a control of the Writer with one transport write for each byte, or each varint
             apache: Apache's Go library from its own structs; protobuf: proto.Unmarshal and then Apache's, and back
             segmentio: github.com/segmentio/encoding with a reused encoder; marshal: with a new one
             cpp: Apache's C++ library with the templated transport, where g++ and libthrift-dev are installed
             memcpy: the finished bytes copied
             and where JSON text is read or written with a type:
             jsontext: its tokens read or written by github.com/go-json-experiment/json/jsontext, and nothing made of them
             sonic: github.com/bytedance/sonic into Apache's struct, and that written by Apache's code; stdjson: encoding/json
  protocol   cmp, bin
  operation  write, read; fromjson and tojson, between JSON text and compact bytes, whose sizes are those of the text
  size       small: OneOfEach, --small-runs times a trial; large: Nested4, --large-runs times; and in bulk, --bulk-runs times:
             list_i64, list_i32, list_double, list_string, list_struct, map_string_i64, binary_64mib

Times are CPU time of the process, garbage collection included: the median of the trials, and their range. A warm-up is
discarded. Every flag can be given as an environment variable: --small-runs is THRIFTPACK_BENCHMARK_SMALL_RUNS.`

func command() *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:          "ratios",
		Short:        "Compare the encoder and the decoder with their peers, in one run",
		Long:         long,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if err := fromEnvironment(c.Flags()); err != nil {
				return err
			}
			return f.check()
		},
		RunE: func(c *cobra.Command, _ []string) error { return runScenarios(c.Context(), c.OutOrStdout(), &f) },
	}
	c.PersistentFlags().IntVar(&f.smallRuns, "small-runs", 10_000, "how often a trial does what is small")
	c.PersistentFlags().IntVar(&f.bulkRuns, "bulk-runs", 5, "how often a trial does what is in bulk")
	c.PersistentFlags().IntVar(&f.trials, "trials", 9, "trials that count; at least 3")
	c.PersistentFlags().BoolVar(&f.json, "json", false, "print JSON, one result a line")
	c.Flags().StringVar(&f.scenarios, "scenarios", "all", "ids of the scenarios to run, with commas between them; * is any run of characters")
	c.Flags().IntVar(&f.largeRuns, "large-runs", 10, "how often a trial does what is large")
	c.AddCommand(changeCommand(&f), growthCommand(&f), schemasCommand(&f), profileCommand(), &cobra.Command{
		Use: "list", Short: "List the ids of the scenarios", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), strings.Join(suite.IDs(), "\n"))
			return err
		},
	})
	return c
}

// fromEnvironment sets the flags that are not given from their variables.
func fromEnvironment(set *pflag.FlagSet) error {
	var failed error
	set.VisitAll(func(f *pflag.Flag) {
		name := environment + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, found := os.LookupEnv(name)
		if !found || f.Changed || failed != nil {
			return
		}
		if err := set.Set(f.Name, value); err != nil {
			failed = fmt.Errorf("%s: %w", name, err)
		}
	})
	return failed
}

func (f *flags) check() error {
	for _, number := range []struct {
		name  string
		value int
		least int
	}{
		{"small-runs", f.smallRuns, 1}, {"large-runs", f.largeRuns, 1}, {"bulk-runs", f.bulkRuns, 1}, {"trials", f.trials, 3},
	} {
		if number.value < number.least {
			return fmt.Errorf("--%s: %s, want at least %d", number.name, strconv.Itoa(number.value), number.least)
		}
	}
	return nil
}

// runs is how often a trial does a size.
func (f *flags) runs(group string) int {
	switch {
	case strings.HasSuffix(group, "-small"):
		return f.smallRuns
	case strings.HasSuffix(group, "-large"):
		return f.largeRuns
	default:
		return f.bulkRuns
	}
}

func runScenarios(ctx context.Context, out io.Writer, f *flags) error {
	keep, err := suite.ParseSelect(f.scenarios)
	if err != nil {
		return fmt.Errorf("--scenarios: %w", err)
	}
	peer, err := suite.StartCPP(ctx)
	if err == nil {
		defer peer.Close()
	} else if !suite.IsMissing(err) {
		return err
	}
	var ran []string
	for group, err := range suite.Groups(keep, peer) {
		if err != nil {
			return err
		}
		for _, missing := range group.Missing {
			fmt.Fprintln(os.Stderr, missing)
			ran = append(ran, group.ID(suite.FamilyCPP))
		}
		for _, contender := range group.Contenders {
			ran = append(ran, group.ID(contender.Family))
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		measurements, err := suite.Measure(group, f.trials, f.runs(group.Name))
		if err != nil {
			return err
		}
		if f.json {
			err = writeJSON(out, measurements)
		} else {
			err = report(out, group, measurements)
		}
		if err != nil {
			return err
		}
	}
	return notRun(f.scenarios, ran)
}

var errNotRun = errors.New("its family does not do that")

// notRun names the ids that were asked for one by one and are of scenarios that do not exist.
func notRun(scenarios string, ran []string) error {
	var err error
	for id := range strings.SplitSeq(scenarios, ",") {
		id = strings.TrimSpace(id)
		if id != "" && id != "all" && !strings.Contains(id, "*") && !slices.Contains(ran, id) {
			err = errors.Join(err, fmt.Errorf("%s: %w", id, errNotRun))
		}
	}
	return err
}

// writeJSON writes each of the values on a line.
func writeJSON[T any](out io.Writer, values []T) error {
	for i := range values {
		if err := json.NewEncoder(out).Encode(&values[i]); err != nil {
			return err
		}
	}
	return nil
}
