// Package store keeps the sources of schemas: in a file that one server has to itself, or in etcd, which replicas share. It
// also reads them from a directory. It moves bytes and knows nothing of what the sources say; package registry compiles
// them, and decides what may follow what.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// Sources are the files of one revision.
type Sources struct {
	// Files are the IDL texts by their path. They must not be changed.
	Files map[string]string
	// Root is the path of the file whose types are named without an include.
	Root string
}

// Revision is a revision in a Record.
type Revision struct {
	// ID is what schema.Revision returns for the sources.
	ID string `json:"revision"`
	// Root is that of the sources.
	Root string `json:"root"`
	// Created is when the revision was first pushed.
	Created time.Time `json:"created"`
}

// Record is what a store has of a schema beside sources.
type Record struct {
	// Compatibility says what may follow; it is never unspecified.
	Compatibility thriftpackv1.Compatibility
	// Revisions are those that there are, in the order in which they became the newest: the last is. A schema that does
	// not exist has none. They must not be changed.
	Revisions []Revision
	// Version is the store's count of changes when this record was written, also where that removed the schema; 0 of a schema
	// that never was.
	Version int64
}

// Exists reports whether there is such a schema.
func (r *Record) Exists() bool { return len(r.Revisions) > 0 }

// Newest returns the newest revision of a schema that exists.
func (r *Record) Newest() Revision { return r.Revisions[len(r.Revisions)-1] }

// Revision returns the revision of that id.
func (r *Record) Revision(id string) (Revision, bool) {
	i := slices.IndexFunc(r.Revisions, func(known Revision) bool { return known.ID == id })
	if i < 0 {
		return Revision{}, false
	}
	return r.Revisions[i], true
}

// Follower is told what a store has. Its functions are called by one goroutine at a time, in the order of versions.
type Follower struct {
	// Reset gets all schemas that exist, and the store's version. The follower owns the map.
	Reset func(records map[string]Record, version int64)
	// Changed gets a schema that was written or removed.
	Changed func(name string, record Record)
	// Reachable is told whether the store can be reached. It is not, to begin with.
	Reachable func(yes bool)
}

// swap is what a change from one record to another means for the sources.
type swap struct {
	// put is the revision whose sources are new, or "".
	put string
	// removed are those whose sources go.
	removed []string
	// all says that the schema goes with everything.
	all bool
}

// planSwap compares two records of a schema.
func planSwap(from, to *Record, put *Sources) swap {
	if !to.Exists() {
		return swap{all: true}
	}
	var s swap
	if put != nil {
		s.put = to.Newest().ID
	}
	for _, revision := range from.Revisions {
		if _, ok := to.Revision(revision.ID); !ok {
			s.removed = append(s.removed, revision.ID)
		}
	}
	return s
}

// namePattern is what names of schemas are; they are parts of keys, so nothing else may be in them.
var namePattern = regexp.MustCompile(`^[a-z0-9._-]{1,64}$`)

// revisionPattern is what revisions are.
var revisionPattern = regexp.MustCompile(`^[0-9a-f]{16}$`)

// ValidName reports whether a schema may have that name.
func ValidName(name string) bool { return namePattern.MatchString(name) && name != "." && name != ".." }

// ValidRevision reports whether a revision may have that id.
func ValidRevision(id string) bool { return revisionPattern.MatchString(id) }

// recordText is the form in which records are kept: people look at them with the tools of a store.
type recordText struct {
	Compatibility string     `json:"compatibility"`
	Revisions     []Revision `json:"revisions"`
}

// encodeRecord returns the form of a record.
func encodeRecord(r *Record) ([]byte, error) {
	return json.Marshal(recordText{Compatibility: r.Compatibility.String(), Revisions: r.Revisions})
}

var errRecord = errors.New("not the record of a schema")

// decodeRecord reads what encodeRecord wrote. Others may write to a store, too, so it is checked.
func decodeRecord(data []byte, version int64) (Record, error) {
	var text recordText
	if err := json.Unmarshal(data, &text); err != nil {
		return Record{}, errRecord
	}
	number, ok := thriftpackv1.Compatibility_value[text.Compatibility]
	if !ok || number == 0 || len(text.Revisions) == 0 {
		return Record{}, errRecord
	}
	for _, revision := range text.Revisions {
		if !ValidRevision(revision.ID) {
			return Record{}, errRecord
		}
	}
	return Record{Compatibility: thriftpackv1.Compatibility(number), Revisions: text.Revisions, Version: version}, nil
}

// encodeSources returns the form in which sources are kept: a thriftpack.v1.Schema, which is hardly larger than they are.
func encodeSources(s *Sources) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(&thriftpackv1.Schema{Files: s.Files, Root: s.Root})
}

// maxSourcesBytes bounds what is taken from a store as the sources of a revision: more than the largest that may be pushed.
const maxSourcesBytes = 64 << 20

// decodeSources reads what encodeSources wrote. It copies.
func decodeSources(data []byte) (Sources, error) {
	if len(data) > maxSourcesBytes {
		return Sources{}, fault.New(fault.Internal, "stored sources of %d bytes", len(data))
	}
	var kept thriftpackv1.Schema
	if err := proto.Unmarshal(data, &kept); err != nil {
		return Sources{}, fault.New(fault.Internal, "stored sources are damaged")
	}
	return Sources{Files: kept.GetFiles(), Root: kept.GetRoot()}, nil
}

// unavailable is the fault of a store that did not do what it was asked for. The cause is in words of ours: that of others may name
// hosts and paths, which are no business of clients.
func unavailable(format string, args ...any) error {
	return fault.New(fault.SchemaStoreUnavailable, "the schema store is away: %s", fmt.Sprintf(format, args...))
}

// orEnded returns the error of ctx, if that is over, and else err: a caller that gave up is no trouble of the store.
func orEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
