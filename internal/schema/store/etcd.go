package store

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// Etcd keeps schemas in etcd, under a prefix:
//
//	PREFIX/schemas/NAME             the record, as JSON
//	PREFIX/sources/NAME/REVISION    the sources, as a serialized thriftpack.v1.Schema
//
// A record and its sources change in one transaction.
type Etcd struct {
	config  clientv3.Config
	records string // the prefix of the keys of records
	sources string // the prefix of the keys of sources
	logger  *slog.Logger

	// client is nil until Follow has it: with a user name, making one waits for etcd, and fails where that is away.
	client atomic.Pointer[clientv3.Client]
}

// EtcdConfig says where etcd is.
type EtcdConfig struct {
	// Endpoints are addresses, host:port each.
	Endpoints []string
	// Prefix comes before all keys. It begins with "/" and does not end with one.
	Prefix string
	// TLS is nil for plaintext.
	TLS *tls.Config
	// Username and Password are credentials, or empty.
	Username, Password string
	// Logger gets what is wrong with etcd.
	Logger *slog.Logger
}

// How the client behaves while etcd is away.
const (
	// callTimeout bounds each call.
	callTimeout = 5 * time.Second
	// slowestConnect bounds the pause between two attempts to connect, so that etcd is found soon after it came back.
	slowestConnect = time.Second
	// pingEvery and pingTimeout find dead connections.
	pingEvery   = 10 * time.Second
	pingTimeout = 3 * time.Second
)

// maxRequest bounds what is sent to etcd, in bytes. etcd itself takes 1.5 MiB unless it is told otherwise.
const maxRequest = maxSourcesBytes + 1<<20

// OpenEtcd returns the store in etcd. It connects when it is followed, so that etcd may be away for now.
func OpenEtcd(c EtcdConfig) *Etcd {
	return &Etcd{
		config: clientv3.Config{
			Endpoints: c.Endpoints, TLS: c.TLS, Username: c.Username, Password: c.Password,
			DialTimeout: callTimeout, DialKeepAliveTime: pingEvery, DialKeepAliveTimeout: pingTimeout, PermitWithoutStream: true,
			MaxCallSendMsgSize: maxRequest,
			// Its own log would go to stderr in another form than ours. What it has to say comes back as errors.
			Logger: zap.NewNop(),
			DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
				Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: slowestConnect},
				MinConnectTimeout: callTimeout,
			})},
		},
		records: c.Prefix + "/schemas/", sources: c.Prefix + "/sources/", logger: c.Logger,
	}
}

// connect makes the client, unless there is one. It ends with ctx.
func (e *Etcd) connect(ctx context.Context) (*clientv3.Client, error) {
	if client := e.client.Load(); client != nil {
		return client, nil
	}
	config := e.config
	config.Context = ctx
	client, err := clientv3.New(config)
	if err != nil {
		return nil, err
	}
	e.client.Store(client)
	return client, nil
}

// connected returns the client, or that there is none yet.
func (e *Etcd) connected() (*clientv3.Client, error) {
	if client := e.client.Load(); client != nil {
		return client, nil
	}
	return nil, unavailable("etcd does not answer")
}

// Close ends the connection.
func (e *Etcd) Close() error {
	if client := e.client.Swap(nil); client != nil {
		_ = client.Close() // it was used to the end: there is nothing to lose
	}
	return nil
}

// failed is the error of a call.
func (e *Etcd) failed(ctx context.Context, err error) error {
	return orEnded(ctx, unavailable("%s", etcdCause(err)))
}

// etcdCause says why etcd did not answer. Texts of the connection name hosts, so ours take their place.
func etcdCause(err error) string {
	switch {
	case errors.Is(err, rpctypes.ErrNoSpace):
		return "etcd has no space left"
	case errors.Is(err, rpctypes.ErrRequestTooLarge):
		return "etcd takes no request so large (its --max-request-bytes)"
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		return "etcd does not allow this user the keys under the prefix"
	case errors.Is(err, rpctypes.ErrAuthFailed), errors.Is(err, rpctypes.ErrUserEmpty), errors.Is(err, rpctypes.ErrUserNotFound):
		return "etcd does not take the user name and password"
	case errors.Is(err, rpctypes.ErrNoLeader):
		return "etcd has no leader"
	default:
		return "etcd does not answer"
	}
}

// Record returns what there is of a schema.
func (e *Etcd) Record(ctx context.Context, name string) (Record, error) {
	client, err := e.connected()
	if err != nil {
		return Record{}, err
	}
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	got, err := client.Get(call, e.records+name)
	if err != nil {
		return Record{}, e.failed(ctx, err)
	}
	if len(got.Kvs) == 0 {
		return Record{}, nil
	}
	record, err := decodeRecord(got.Kvs[0].Value, got.Kvs[0].ModRevision)
	if err != nil {
		return Record{}, unavailable("the record of the schema is damaged")
	}
	return record, nil
}

// Sources returns the files of a revision; ok is false where there is no such.
func (e *Etcd) Sources(ctx context.Context, name, revision string) (sources Sources, ok bool, err error) {
	client, err := e.connected()
	if err != nil {
		return Sources{}, false, err
	}
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	got, err := client.Get(call, e.sourcesKey(name, revision))
	if err != nil {
		return Sources{}, false, e.failed(ctx, err)
	}
	if len(got.Kvs) == 0 {
		return Sources{}, false, nil
	}
	sources, err = decodeSources(got.Kvs[0].Value)
	return sources, err == nil, err
}

func (e *Etcd) sourcesKey(name, revision string) string { return e.sources + name + "/" + revision }

// Swap replaces the record of a schema by another, if it still is from, and with it puts the sources of the newest revision where
// they are given, and removes those of revisions that to does not have. It returns the record that there is now, and whether that is to.
// After an error it may have been done or not.
func (e *Etcd) Swap(ctx context.Context, name string, from, to Record, put *Sources) (current Record, swapped bool, err error) {
	client, err := e.connected()
	if err != nil {
		return Record{}, false, err
	}
	then, err := e.operations(name, &from, &to, put)
	if err != nil {
		return Record{}, false, err
	}
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	key := e.records + name
	done, err := client.Txn(call).
		If(clientv3.Compare(clientv3.ModRevision(key), "=", from.Version)).
		Then(then...).
		Else(clientv3.OpGet(key)).
		Commit()
	switch {
	case err != nil:
		e.logger.LogAttrs(ctx, slog.LevelWarn, "schema store cannot be written", slog.String("error", etcdCause(err)))
		return Record{}, false, e.failed(ctx, err)
	case done.Succeeded:
		to.Version = done.Header.GetRevision()
		return to, true, nil
	}
	found := done.Responses[0].GetResponseRange().GetKvs()
	if len(found) == 0 {
		return Record{}, false, nil
	}
	if current, err = decodeRecord(found[0].GetValue(), found[0].GetModRevision()); err != nil {
		return Record{}, false, unavailable("the record of the schema is damaged")
	}
	return current, false, nil
}

// operations are what a change of a record does.
func (e *Etcd) operations(name string, from, to *Record, put *Sources) ([]clientv3.Op, error) {
	plan := planSwap(from, to, put)
	if plan.all {
		return []clientv3.Op{
			clientv3.OpDelete(e.records + name),
			clientv3.OpDelete(e.sources+name+"/", clientv3.WithPrefix()),
		}, nil
	}
	text, err := encodeRecord(to)
	if err != nil {
		return nil, err
	}
	operations := []clientv3.Op{clientv3.OpPut(e.records+name, string(text))}
	if plan.put != "" {
		data, err := encodeSources(put)
		if err != nil {
			return nil, err
		}
		operations = append(operations, clientv3.OpPut(e.sourcesKey(name, plan.put), string(data)))
	}
	for _, revision := range plan.removed {
		operations = append(operations, clientv3.OpDelete(e.sourcesKey(name, revision)))
	}
	return operations, nil
}

// nameOf returns the name in the key of a record.
func (e *Etcd) nameOf(key []byte) (name string, ok bool) {
	name, ok = strings.CutPrefix(string(key), e.records)
	return name, ok && ValidName(name)
}
