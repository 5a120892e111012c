package streaming

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"time"
)

// ChildArgument is the argument that makes a program with this package a child: its main then calls Child.
const ChildArgument = "child"

// question is what a child is asked to do; one member is set.
type question struct {
	Serve   *ServerSpec `json:"serve,omitempty"`
	Prepare *Job        `json:"prepare,omitempty"`
	Run     bool        `json:"run,omitempty"`
	Usage   bool        `json:"usage,omitempty"`
}

// answer is what a child says to a question.
type answer struct {
	Error   string  `json:"error,omitempty"`
	Address string  `json:"address,omitempty"`
	Outcome Outcome `json:"outcome"`
	Usage   Usage   `json:"usage"`
}

// Child answers questions, one JSON text each, until in ends: it is the whole program of a server or client process.
func Child(ctx context.Context, in io.Reader, out io.Writer) error {
	questions, answers := json.NewDecoder(in), json.NewEncoder(out)
	var c child
	for {
		var q question
		if err := questions.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("child: %w", err)
		}
		a, err := c.answer(ctx, &q)
		if err != nil {
			a.Error = err.Error()
		}
		if err := answers.Encode(a); err != nil {
			return fmt.Errorf("child: %w", err)
		}
	}
}

// child is the state of a child process.
type child struct {
	job    Job
	upload *upload
}

func (c *child) answer(ctx context.Context, q *question) (a answer, err error) {
	switch {
	case q.Serve != nil:
		a.Address, err = serve(*q.Serve)
		// What starting takes is given back, so that idle memory is what stays.
		debug.FreeOSMemory()
	case q.Prepare != nil:
		c.job = *q.Prepare
		c.upload, err = newUpload(&c.job)
		debug.FreeOSMemory()
	case q.Run && c.upload != nil:
		a.Outcome, err = run(ctx, &c.job, c.upload)
	case q.Usage:
		a.Usage, err = used()
	default:
		err = errors.New("a question without an answer")
	}
	return a, err
}

// process is a child as its parent sees it. It is for one goroutine.
type process struct {
	command   *exec.Cmd
	in        io.WriteCloser
	questions *json.Encoder
	answers   *json.Decoder
}

// startProcess runs this same program as a child. It must be stopped.
func startProcess(ctx context.Context) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	command := exec.CommandContext(ctx, self, ChildArgument) //nolint:gosec // this very program
	command.Stderr = os.Stderr
	command.WaitDelay = 10 * time.Second
	in, err := command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	return &process{command: command, in: in, questions: json.NewEncoder(in), answers: json.NewDecoder(out)}, nil
}

// startServer runs a server and returns where it serves.
func startServer(ctx context.Context, spec ServerSpec) (p *process, address string, err error) {
	if p, err = startProcess(ctx); err != nil {
		return nil, "", err
	}
	a, err := p.ask(&question{Serve: &spec})
	if err != nil {
		p.stop()
		return nil, "", err
	}
	return p, a.Address, nil
}

// ask has the child answer a question.
func (p *process) ask(q *question) (answer, error) {
	if err := p.questions.Encode(q); err != nil {
		return answer{}, fmt.Errorf("ask: %w", err)
	}
	var a answer
	if err := p.answers.Decode(&a); err != nil {
		return answer{}, fmt.Errorf("ask: %w", err)
	}
	if a.Error != "" {
		return answer{}, errors.New(a.Error)
	}
	return a, nil
}

// stop ends the child: its standard input ends.
func (p *process) stop() {
	_ = p.in.Close()
	_ = p.command.Wait()
}

// pid is the number of the process.
func (p *process) pid() int { return p.command.Process.Pid }
