package streaming

import (
	"context"
	"time"
)

// Plateau is what the server's memory does when streams of several sizes follow each other.
type Plateau struct {
	// Method is the method, and Warmup the stream before those that count.
	Method string         `json:"method"`
	Warmup *Measurement   `json:"warmup"`
	Runs   []*Measurement `json:"runs"`
}

// RunPlateau streams a warm-up and then each size through one server.
func RunPlateau(ctx context.Context, spec ServerSpec, job Job, warmup int64, sizes []int64, interval time.Duration) (*Plateau, error) {
	couple, err := Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer couple.Stop()
	p := &Plateau{Method: job.Method}
	job.Bytes = warmup
	if p.Warmup, err = couple.Run(job, interval); err != nil {
		return nil, err
	}
	for _, job.Bytes = range sizes {
		m, err := couple.Run(job, interval)
		if err != nil {
			return nil, err
		}
		p.Runs = append(p.Runs, m)
	}
	return p, nil
}

// Spread is how far the peaks of the runs are apart, in bytes.
func (p *Plateau) Spread() int64 {
	least, most := p.Runs[0].Server.Peak, p.Runs[0].Server.Peak
	for _, m := range p.Runs {
		least, most = min(least, m.Server.Peak), max(most, m.Server.Peak)
	}
	return most - least
}

// Growth is how far the highest peak is above the idle server, in bytes.
func (p *Plateau) Growth() int64 {
	most := p.Warmup.Server.Peak
	for _, m := range p.Runs {
		most = max(most, m.Server.Peak)
	}
	return most - p.Warmup.Server.Idle
}
