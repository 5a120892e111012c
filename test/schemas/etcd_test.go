package schemas

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// soon is what the documents promise for a push to reach the other servers, and slack what a busy machine may make of it.
const (
	soon  = time.Second
	slack = 20
)

// push creates a revision of one file, which any other may follow.
func (r *replica) push(ctx context.Context, name, text string) (revision string, err error) {
	created, err := r.schemas.CreateSchema(ctx, &thriftpackv1.CreateSchemaRequest{
		Name: name, Files: map[string]string{"main.thrift": text}, Compatibility: thriftpackv1.Compatibility_COMPATIBILITY_NONE,
	})
	return created.GetSchema().GetRevision(), err
}

func (r *replica) mustPush(t *testing.T, name, text string) (revision string) {
	t.Helper()
	revision, err := r.push(t.Context(), name, text)
	if err != nil {
		t.Fatalf("CreateSchema %s: %v", name, err)
	}
	return revision
}

// newest returns the newest revision of a schema.
func (r *replica) newest(ctx context.Context, name string) (string, error) {
	got, err := r.schemas.GetSchema(ctx, &thriftpackv1.GetSchemaRequest{Schema: name})
	return got.GetSchema().GetRevision(), err
}

// encode encodes JSON by the type S of a schema.
func (r *replica) encode(ctx context.Context, schema, text string) error {
	_, err := r.values.Encode(ctx, &thriftpackv1.EncodeRequest{
		Input: &thriftpackv1.EncodeRequest_Json{Json: text}, Type: &thriftpackv1.TypeRef{Schema: schema, Type: "S"},
	})
	return err
}

// ready reports whether a replica says that it is.
func (r *replica) ready(ctx context.Context) bool {
	reply, err := healthv1.NewHealthClient(r.conn).Check(ctx, &healthv1.HealthCheckRequest{Service: "readiness"})
	return err == nil && reply.GetStatus() == healthv1.HealthCheckResponse_SERVING
}

const (
	first  = "struct S { 1: i32 a }"
	second = "struct S { 1: i32 a, 2: i32 b }"
)

// TestSharedSchemas pushes to one server and calls the other.
func TestSharedSchemas(t *testing.T) {
	etcd := startEtcd(t, t.TempDir(), "")
	store := "--schema-store=etcd://" + etcd.addr + "/shared"
	a, b := startReplica(t, store), startReplica(t, store)
	eventually(t, "both ready", func(ctx context.Context) bool { return a.ready(ctx) && b.ready(ctx) })

	// What b has not heard of it asks for: the very next call has it, by name and by revision.
	one := a.mustPush(t, "s", first)
	for _, ref := range []string{"s", "s@" + one} {
		if err := b.encode(t.Context(), ref, `{"a":1}`); err != nil {
			t.Errorf("Encode by %s at the other server, at once: %v", ref, err)
		}
	}
	// A newer revision of what it knows it is told of.
	worst := time.Duration(0)
	for i := range 20 {
		text := fmt.Sprintf("%s // %d", second, i)
		revision := a.mustPush(t, "s", text)
		took := eventually(t, "the newest at the other server", func(ctx context.Context) bool {
			newest, err := b.newest(ctx, "s")
			return err == nil && newest == revision
		})
		worst = max(worst, took)
	}
	t.Logf("the slowest of 20 pushes reached the other server after %v", worst)
	if worst > slack*soon {
		t.Errorf("a push reached the other server after %v, want %v, and %v on a busy machine", worst, soon, slack*soon)
	}
	if err := b.encode(t.Context(), "s@"+one, `{"b":1}`); status.Code(err) != codes.InvalidArgument {
		t.Errorf("Encode by the first revision, of a field that it does not have: %v", err)
	}
	// What is deleted at one is gone at the other.
	if _, err := b.schemas.DeleteSchema(t.Context(), &thriftpackv1.DeleteSchemaRequest{Schema: "s"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "deleted at the other server", func(ctx context.Context) bool {
		_, err := a.newest(ctx, "s")
		return status.Code(err) == codes.NotFound
	})
	// A third server has everything from the start.
	again := b.mustPush(t, "s", first)
	c := startReplica(t, store)
	eventually(t, "ready", c.ready)
	if newest, err := c.newest(t.Context(), "s"); err != nil || newest != again {
		t.Errorf("a server that starts later has %s, %v; want %s", newest, err, again)
	}
	for _, r := range []*replica{a, b, c} {
		r.stop(t)
	}
}

// TestPushesAtOnce pushes to two servers from 200 sides: nothing is lost, and both agree.
func TestPushesAtOnce(t *testing.T) {
	const pushes = 200
	etcd := startEtcd(t, t.TempDir(), "")
	store := "--schema-store=etcd://" + etcd.addr
	replicas := []*replica{startReplica(t, store), startReplica(t, store)}
	eventually(t, "both ready", func(ctx context.Context) bool { return replicas[0].ready(ctx) && replicas[1].ready(ctx) })

	var group sync.WaitGroup
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	busy := 0
	for i := range pushes {
		group.Go(func() {
			text := fmt.Sprintf("struct S { 1: i32 a } // %d", i)
			for {
				revision, err := replicas[i%2].push(t.Context(), "same", text)
				mu.Lock()
				switch status.Code(err) {
				case codes.OK:
					acknowledged[revision] = true
				case codes.ResourceExhausted, codes.Unavailable: // try again, as RetryInfo says
					busy++
				default:
					t.Errorf("push %d: %v", i, err)
				}
				mu.Unlock()
				if code := status.Code(err); code != codes.ResourceExhausted && code != codes.Unavailable {
					return
				}
			}
		})
	}
	began := time.Now()
	group.Wait()
	t.Logf("%d pushes of one schema in %v, %d of them had to try again", pushes, time.Since(began), busy)
	if len(acknowledged) != pushes {
		t.Fatalf("%d pushes were acknowledged, want %d", len(acknowledged), pushes)
	}
	for i, r := range replicas {
		eventually(t, fmt.Sprintf("all revisions at server %d", i), func(ctx context.Context) bool {
			page, err := r.schemas.ListSchemas(ctx, &thriftpackv1.ListSchemasRequest{Name: "same", PageSize: 1000})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range page.GetSchemas() {
				if !acknowledged[s.GetRevision()] {
					t.Fatalf("revision %s was not acknowledged", s.GetRevision())
				}
			}
			return len(page.GetSchemas()) == pushes
		})
		for revision := range acknowledged {
			if err := r.encode(t.Context(), "same@"+revision, `{"a":1}`); err != nil {
				t.Fatalf("Encode by %s at server %d: %v", revision, i, err)
			}
		}
		r.stop(t)
	}
}

// TestEtcdGoesAndComes kills etcd and starts it again.
func TestEtcdGoesAndComes(t *testing.T) {
	folder := t.TempDir()
	etcd := startEtcd(t, folder, "")
	store := "--schema-store=etcd://" + etcd.addr
	a, b := startReplica(t, store), startReplica(t, store)
	eventually(t, "both ready", func(ctx context.Context) bool { return a.ready(ctx) && b.ready(ctx) })
	one := a.mustPush(t, "s", first)
	if err := b.encode(t.Context(), "s", `{"a":1}`); err != nil {
		t.Fatal(err)
	}
	etcd.kill()

	// What is known is served on; b has never been asked for the second name, but was told of it.
	for _, r := range []*replica{a, b} {
		for _, ref := range []string{"s", "s@" + one} {
			if err := r.encode(t.Context(), ref, `{"a":1}`); err != nil {
				t.Errorf("Encode by %s without etcd: %v", ref, err)
			}
		}
		began := time.Now()
		_, err := r.push(t.Context(), "s", second)
		if status.Code(err) != codes.Unavailable {
			t.Errorf("a push without etcd: %v", err)
		}
		t.Logf("a push without etcd failed after %v", time.Since(began))
		// It notices within seconds, and then pushes fail at once.
		eventually(t, "pushes that fail at once", func(ctx context.Context) bool {
			began := time.Now()
			_, err := r.push(ctx, "s", second)
			return status.Code(err) == codes.Unavailable && time.Since(began) < 100*time.Millisecond
		})
		if _, err := r.newest(t.Context(), "other"); status.Code(err) != codes.Unavailable {
			t.Errorf("GetSchema of a name that is not known, without etcd: %v", err)
		}
		if !r.ready(t.Context()) {
			t.Error("not ready without etcd")
		}
	}
	// A server that starts now is alive, and not ready.
	late := startReplica(t, store)
	if late.ready(t.Context()) {
		t.Error("a server that has loaded nothing is ready")
	}

	startEtcd(t, folder, etcd.addr)
	for name, r := range map[string]*replica{"a": a, "b": b, "late": late} {
		took := eventually(t, "a push once etcd is back", func(ctx context.Context) bool {
			_, err := r.push(ctx, "of-"+name, first)
			return err == nil
		})
		t.Logf("server %s took a push %v after etcd was back", name, took)
	}
	eventually(t, "the late server ready", late.ready)
	two := a.mustPush(t, "s", second)
	for _, r := range []*replica{a, b, late} {
		eventually(t, "the newest everywhere", func(ctx context.Context) bool {
			newest, err := r.newest(ctx, "s")
			return err == nil && newest == two
		})
		r.stop(t)
	}
}
