package streaming

import (
	"context"
	"fmt"
	"time"
)

// Side is what one process needed for a stream. Memory is RssAnon, in bytes.
type Side struct {
	Usage
	// Idle is before the first stream, and End after this one.
	Idle int64 `json:"idle"`
	End  int64 `json:"end"`
	// Peak is the most of all samples.
	Peak int64 `json:"peak"`
}

// Sample is RssAnon of both processes at one time after the start of the stream.
type Sample struct {
	At     time.Duration `json:"at"`
	Server int64         `json:"server"`
	Client int64         `json:"client"`
}

// Measurement is one stream with what both processes needed.
type Measurement struct {
	Job     Job           `json:"job"`
	Outcome Outcome       `json:"outcome"`
	Real    time.Duration `json:"real"`
	Server  Side          `json:"server"`
	Client  Side          `json:"client"`
	Samples []Sample      `json:"samples,omitempty"`
}

// Rate is Thrift bytes a second.
func (m *Measurement) Rate() float64 { return float64(m.Outcome.Bytes) / m.Real.Seconds() }

// Couple is a server and a client in processes of their own, new ones, whose memory is known from before the first stream. It
// is for one goroutine.
type Couple struct {
	server, client         *process
	spec                   ServerSpec
	address                string
	idleServer, idleClient int64
}

// Start starts a couple. It must be stopped.
func Start(ctx context.Context, spec ServerSpec) (*Couple, error) {
	server, address, err := startServer(ctx, spec)
	if err != nil {
		return nil, err
	}
	client, err := startProcess(ctx)
	if err != nil {
		server.stop()
		return nil, err
	}
	return &Couple{server: server, client: client, spec: spec, address: address}, nil
}

// Stop ends both processes.
func (c *Couple) Stop() {
	c.client.stop()
	c.server.stop()
}

// Run carries out a job and samples memory at an interval.
func (c *Couple) Run(job Job, interval time.Duration) (*Measurement, error) {
	job.Address, job.Mode = c.address, c.spec.Mode
	m := &Measurement{Job: job}
	if _, err := c.client.ask(&question{Prepare: &job}); err != nil {
		return nil, err
	}
	if err := c.idle(); err != nil {
		return nil, err
	}
	serverBefore, clientBefore, err := c.usage()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	stop := make(chan struct{})
	sampled := make(chan error, 1)
	go func() { sampled <- c.sample(m, start, interval, stop) }()
	a, err := c.client.ask(&question{Run: true})
	m.Real = time.Since(start)
	close(stop)
	if sampleErr := <-sampled; err == nil {
		err = sampleErr
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.spec.Mode, err)
	}
	m.Outcome = a.Outcome
	serverAfter, clientAfter, err := c.usage()
	if err != nil {
		return nil, err
	}
	m.Server = side(serverAfter.since(serverBefore), c.idleServer, m.Samples, func(s Sample) int64 { return s.Server })
	m.Client = side(clientAfter.since(clientBefore), c.idleClient, m.Samples, func(s Sample) int64 { return s.Client })
	return m, nil
}

// idle notes what both processes have before the first stream.
func (c *Couple) idle() (err error) {
	if c.idleServer != 0 {
		return nil
	}
	if c.idleServer, err = rssAnon(c.server.pid()); err != nil {
		return err
	}
	c.idleClient, err = rssAnon(c.client.pid())
	return err
}

func (c *Couple) usage() (server, client Usage, err error) {
	s, err := c.server.ask(&question{Usage: true})
	if err != nil {
		return server, client, err
	}
	a, err := c.client.ask(&question{Usage: true})
	return s.Usage, a.Usage, err
}

// sample reads the memory of both processes at once, at each interval, and when stop is closed.
func (c *Couple) sample(m *Measurement, start time.Time, interval time.Duration, stop <-chan struct{}) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for ended := false; ; {
		server, err := rssAnon(c.server.pid())
		if err != nil {
			return err
		}
		client, err := rssAnon(c.client.pid())
		if err != nil {
			return err
		}
		m.Samples = append(m.Samples, Sample{At: time.Since(start), Server: server, Client: client})
		if ended {
			return nil
		}
		select {
		case <-ticker.C:
		case <-stop:
			ended = true
		}
	}
}

func side(usage Usage, idle int64, samples []Sample, of func(Sample) int64) Side {
	s := Side{Usage: usage, Idle: idle, End: of(samples[len(samples)-1])}
	for _, sample := range samples {
		s.Peak = max(s.Peak, of(sample))
	}
	return s
}
