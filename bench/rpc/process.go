package rpc

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is a server in a process of its own, so that its CPU time and memory can be told from the client's.
type Process struct {
	// Mode is the kind of server, one of Modes.
	Mode string
	// Address is where it serves.
	Address string

	command *exec.Cmd
}

// addressPrefix starts the line in which a server process says where it serves.
const addressPrefix = "serving on "

// Start runs this same program as a server of the given mode and waits until it serves. Where profiles names a folder, the server leaves
// a profile of its CPU time there, MODE.pprof, when it is stopped. Stop must be called.
func Start(ctx context.Context, mode, profiles string) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", mode, err)
	}
	arguments := []string{"serve", mode}
	if profiles != "" {
		arguments = append(arguments, "--profile", filepath.Join(profiles, mode+".pprof"))
	}
	command := exec.CommandContext(ctx, self, arguments...) //nolint:gosec // this very program
	command.Stderr = os.Stderr
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = 10 * time.Second
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", mode, err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", mode, err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	address, found := strings.CutPrefix(strings.TrimSpace(line), addressPrefix)
	if err != nil || !found {
		_ = command.Process.Kill()
		_ = command.Wait()
		return nil, fmt.Errorf("start %s: it said %q instead of its address", mode, line)
	}
	return &Process{Mode: mode, Address: address, command: command}, nil
}

// Stop ends the process and waits for it.
func (p *Process) Stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM)
	_ = p.command.Wait()
}

// CPU returns the user and system time that the process has used, to the nanosecond: the sum over its threads of
// what the scheduler gave them. Threads that have ended are missing, but the Go runtime keeps its threads.
func (p *Process) CPU() (time.Duration, error) {
	directory := fmt.Sprintf("/proc/%d/task", p.command.Process.Pid)
	tasks, err := os.ReadDir(directory)
	if err != nil {
		return 0, fmt.Errorf("cpu of %s: %w", p.Mode, err)
	}
	var total time.Duration
	for _, task := range tasks {
		text, err := os.ReadFile(directory + "/" + task.Name() + "/schedstat") //nolint:gosec // as the system names it
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("cpu of %s: %w", p.Mode, err)
		}
		spent, _, _ := strings.Cut(string(text), " ")
		nanoseconds, err := strconv.ParseInt(spent, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("cpu of %s: %w", p.Mode, err)
		}
		total += time.Duration(nanoseconds)
	}
	return total, nil
}
