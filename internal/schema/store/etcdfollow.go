package store

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"
)

const (
	// probeEvery is how often etcd is asked whether it is there. A watch does not tell: it waits for etcd to come back.
	probeEvery = time.Second
	// probeTimeout is how long it may take over that.
	probeTimeout = 2 * time.Second
	// soonestRetry and latestRetry bound the pauses between two attempts to load everything.
	soonestRetry = 50 * time.Millisecond
	latestRetry  = time.Second
	// pageRecords is how many records are loaded at a time.
	pageRecords = 100
)

// Follow tells the follower what etcd has, and from then on every change by whoever makes it, until ctx is done. When etcd was away it
// loads everything anew.
func (e *Etcd) Follow(ctx context.Context, follower Follower) {
	pause := soonestRetry
	for reachable := true; ; {
		err := e.follow(ctx, follower, func() {
			e.logger.LogAttrs(ctx, slog.LevelInfo, "schema store is there")
			reachable, pause = true, soonestRetry
			follower.Reachable(true)
		})
		if ctx.Err() != nil {
			return
		}
		if reachable {
			reachable = false
			follower.Reachable(false)
			e.logger.LogAttrs(ctx, slog.LevelWarn, "schema store is away", slog.String("error", etcdCause(err)))
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		pause = min(2*pause, latestRetry)
	}
}

// follow loads everything and then follows the changes until something fails, or ctx is done.
func (e *Etcd) follow(ctx context.Context, follower Follower, loaded func()) error {
	client, err := e.connect(ctx)
	if err != nil {
		return err
	}
	records, version, err := e.load(ctx, client)
	if err != nil {
		return err
	}
	follower.Reset(records, version)
	loaded()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return e.probe(ctx, client) })
	group.Go(func() error { return e.watch(ctx, client, version+1, follower) })
	return group.Wait()
}

// load returns all records, as they are at one version.
func (e *Etcd) load(ctx context.Context, client *clientv3.Client) (records map[string]Record, version int64, err error) {
	records = map[string]Record{}
	end := clientv3.GetPrefixRangeEnd(e.records)
	for from := e.records; ; {
		options := []clientv3.OpOption{clientv3.WithRange(end), clientv3.WithLimit(pageRecords)}
		if version > 0 {
			options = append(options, clientv3.WithRev(version))
		}
		page, err := pageOf(ctx, client, from, options)
		if err != nil {
			return nil, 0, err
		}
		if version == 0 {
			version = page.Header.GetRevision()
		}
		for _, kv := range page.Kvs {
			if name, record, ok := e.recordIn(ctx, kv); ok {
				records[name] = record
			}
		}
		if !page.More {
			return records, version, nil
		}
		from = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
	}
}

func pageOf(ctx context.Context, client *clientv3.Client, from string, options []clientv3.OpOption) (*clientv3.GetResponse, error) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return client.Get(call, from, options...)
}

// recordIn reads a record. What others wrote there is left out, and the log says so.
func (e *Etcd) recordIn(ctx context.Context, kv *mvccpb.KeyValue) (name string, record Record, ok bool) {
	name, ok = e.nameOf(kv.GetKey())
	if ok {
		var err error
		record, err = decodeRecord(kv.GetValue(), kv.GetModRevision())
		ok = err == nil
	}
	if !ok {
		e.logger.LogAttrs(ctx, slog.LevelError, "schema store: a record that cannot be read is left out")
	}
	return name, record, ok
}

// probe asks etcd until it does not answer in time, or ctx is done.
func (e *Etcd) probe(ctx context.Context, client *clientv3.Client) error {
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		call, cancel := context.WithTimeout(ctx, probeTimeout)
		_, err := client.Get(call, e.records, clientv3.WithKeysOnly())
		cancel()
		if err != nil {
			return err
		}
	}
}

var errWatchEnded = errors.New("the watch ended")

// watch passes on changes from a version on.
func (e *Etcd) watch(ctx context.Context, client *clientv3.Client, version int64, follower Follower) error {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	for changes := range client.Watch(ctx, e.records, clientv3.WithPrefix(), clientv3.WithRev(version)) {
		if err := changes.Err(); err != nil {
			return err
		}
		for _, event := range changes.Events {
			if event.Type == mvccpb.Event_DELETE {
				if name, ok := e.nameOf(event.Kv.GetKey()); ok {
					follower.Changed(name, Record{Version: event.Kv.GetModRevision()})
				}
			} else if name, record, ok := e.recordIn(ctx, event.Kv); ok {
				follower.Changed(name, record)
			}
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errWatchEnded
}
