package streaming

import (
	"context"
	"time"
)

// Trial is one stream of one side of a pair.
type Trial struct {
	// Rate is Thrift bytes a second.
	Rate float64 `json:"rate"`
	// Server and Client are CPU time.
	Server time.Duration `json:"server"`
	Client time.Duration `json:"client"`
}

// Pair is one trial of two servers, one right after the other, so that a machine whose speed drifts does so for both.
type Pair struct {
	Ours   Trial `json:"ours"`
	Theirs Trial `json:"theirs"`
}

// Ratio is our rate over theirs.
func (p Pair) Ratio() float64 { return p.Ours.Rate / p.Theirs.Rate }

// CPURatio is the CPU time of their server over that of ours: above 1 is cheaper than they are.
func (p Pair) CPURatio() float64 { return float64(p.Theirs.Server) / float64(p.Ours.Server) }

// Rivals are any number of servers in processes of their own, and one client that streams to one after the other. They are for
// one goroutine.
type Rivals struct {
	client    *process
	servers   []*process
	specs     []ServerSpec
	addresses []string
}

// StartRivals starts the servers and the client. They must be stopped.
func StartRivals(ctx context.Context, specs ...ServerSpec) (*Rivals, error) {
	r := &Rivals{specs: specs}
	var err error
	if r.client, err = startProcess(ctx); err != nil {
		return nil, err
	}
	for _, spec := range specs {
		server, address, err := startServer(ctx, spec)
		if err != nil {
			r.Stop()
			return nil, err
		}
		r.servers = append(r.servers, server)
		r.addresses = append(r.addresses, address)
	}
	return r, nil
}

// Stop ends all processes.
func (r *Rivals) Stop() {
	r.client.stop()
	for _, server := range r.servers {
		server.stop()
	}
}

// Trial streams a job to server i.
func (r *Rivals) Trial(i int, job Job) (Trial, error) {
	job.Address, job.Mode = r.addresses[i], r.specs[i].Mode
	if _, err := r.client.ask(&question{Prepare: &job}); err != nil {
		return Trial{}, err
	}
	couple := Couple{server: r.servers[i], client: r.client}
	serverBefore, clientBefore, err := couple.usage()
	if err != nil {
		return Trial{}, err
	}
	start := time.Now()
	a, err := r.client.ask(&question{Run: true})
	elapsed := time.Since(start)
	if err != nil {
		return Trial{}, err
	}
	server, client, err := couple.usage()
	return Trial{
		Rate:   float64(a.Outcome.Bytes) / elapsed.Seconds(),
		Server: server.since(serverBefore).Total(), Client: client.since(clientBefore).Total(),
	}, err
}

// Memory is RssAnon of server i, in bytes.
func (r *Rivals) Memory(i int) (int64, error) { return rssAnon(r.servers[i].pid()) }

// Rounds streams a job to all servers in turn, rounds times after one that does not count. Every other round goes the other way
// round. It returns one row of trials, a trial for each server, for each round.
func (r *Rivals) Rounds(job Job, rounds int) ([][]Trial, error) {
	rows := make([][]Trial, 0, rounds)
	for round := -1; round < rounds; round++ {
		row := make([]Trial, len(r.servers))
		for i := range row {
			if round%2 != 0 {
				i = len(row) - 1 - i
			}
			var err error
			if row[i], err = r.Trial(i, job); err != nil {
				return nil, err
			}
		}
		if round >= 0 {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// RunPairs streams a job to two servers in interleaved pairs.
func RunPairs(ctx context.Context, ours, theirs ServerSpec, job Job, pairs int) ([]Pair, error) {
	rivals, err := StartRivals(ctx, ours, theirs)
	if err != nil {
		return nil, err
	}
	defer rivals.Stop()
	rows, err := rivals.Rounds(job, pairs)
	if err != nil {
		return nil, err
	}
	results := make([]Pair, len(rows))
	for i, row := range rows {
		results[i] = Pair{Ours: row[0], Theirs: row[1]}
	}
	return results, nil
}
