package store

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// File keeps schemas in a file that it has locked. The file is made when the first schema is. What Swap
// has written is on the disk when it returns.
type File struct {
	path   string
	logger *slog.Logger

	mu       sync.Mutex // guards the members below, and orders what the follower is told
	db       *bolt.DB   // nil until the file exists
	closed   bool
	stuck    bool // db was left with a lock held, and is not to be touched again
	follower *Follower
}

// The buckets of the file. Records have their version, big-endian, before their text. Sources are under name@revision.
var (
	recordsBucket = []byte("records")
	sourcesBucket = []byte("sources")
)

// lockWait is how long it waits for another process to let go of the file, as one that is being replaced does.
const lockWait = time.Second

// OpenFile opens the file of schemas at path, where there is one. The error names the path.
func OpenFile(path string, logger *slog.Logger) (*File, error) {
	f := &File{path: path, logger: logger}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) { //nolint:gosec // the path of the setting
		return f, nil
	}
	db, err := openDB(path)
	if err != nil {
		return nil, &fileError{path: path, cause: err}
	}
	f.db = db
	return f, nil
}

// fileError is an error for whoever started the server: it names the path.
type fileError struct {
	path  string
	cause error
}

// Error says what to do about it.
func (e *fileError) Error() string {
	if errors.Is(e.cause, bolterrors.ErrTimeout) {
		return "schema store " + e.path + ": another process has it open; give this one another --schema-store=file:PATH, or none"
	}
	return "schema store " + e.path + ": " + cause(e.cause)
}

// Unwrap returns the cause.
func (e *fileError) Unwrap() error { return e.cause }

// cause says what is wrong with a file, without its path.
func cause(err error) string {
	var errno syscall.Errno
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return "another process has the file open"
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrVersionMismatch), errors.Is(err, bolterrors.ErrChecksum):
		return "the file is damaged, or is none of schemas"
	case errors.As(err, &errno):
		return errno.Error()
	default:
		return "the file cannot be read or written" // bbolt keeps some causes as text, which names the path
	}
}

// openDB opens a file that exists.
func openDB(path string) (db *bolt.DB, err error) {
	err = guard(func() error {
		db, err = bolt.Open(path, 0o600, &bolt.Options{Timeout: lockWait})
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := addBuckets(db); err != nil {
		if !errors.Is(err, errDamaged) { // or Close could wait for a lock for ever
			_ = db.Close() // the error that counts is the first
		}
		return nil, err
	}
	return db, nil
}

// addBuckets makes the buckets of a file that has none. One with other buckets is of another program.
func addBuckets(db *bolt.DB) error {
	empty, ours := true, false
	err := guard(func() error {
		return db.View(func(tx *bolt.Tx) error {
			ours = tx.Bucket(recordsBucket) != nil && tx.Bucket(sourcesBucket) != nil
			return tx.ForEach(func([]byte, *bolt.Bucket) error {
				empty = false
				return nil
			})
		})
	})
	switch {
	case err != nil || ours:
		return err
	case !empty:
		return bolterrors.ErrInvalid
	}
	return guard(func() error {
		return db.Update(makeBuckets)
	})
}

// makeBuckets makes the buckets of an empty file.
func makeBuckets(tx *bolt.Tx) error {
	_, err := tx.CreateBucket(recordsBucket)
	if err == nil {
		_, err = tx.CreateBucket(sourcesBucket)
	}
	return err
}

// create makes the file, whole or not at all: it is made beside its place and linked there, so that a process that is
// killed over it leaves nothing that cannot be opened.
func (f *File) create() error {
	folder := filepath.Dir(f.path)
	if err := os.MkdirAll(folder, 0o700); err != nil { //nolint:gosec // the folder of the setting
		return err
	}
	beside, err := os.CreateTemp(folder, ".schemas-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(beside.Name()) }() //nolint:gosec // as above
	if err := beside.Close(); err != nil {
		return err
	}
	made, err := openDB(beside.Name())
	if err != nil {
		return err
	}
	if err := made.Close(); err != nil {
		return err
	}
	if err := os.Link(beside.Name(), f.path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := syncFolder(folder); err != nil {
		return err
	}
	f.db, err = openDB(f.path)
	return err
}

// syncFolder makes a new name in a folder last.
func syncFolder(path string) error {
	folder, err := os.Open(path) //nolint:gosec // the folder of the setting
	if err != nil {
		return err
	}
	err = folder.Sync()
	return errors.Join(err, folder.Close())
}

// Follow tells the follower what the file has, and from then on what Swap changes, until ctx is done.
func (f *File) Follow(ctx context.Context, follower Follower) {
	if f.begin(&follower) {
		<-ctx.Done()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.follower = nil
}

// begin gives the follower the first state. A file that cannot be read has none.
func (f *File) begin(follower *Follower) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	records := map[string]Record{}
	var version int64
	err := f.view(func(tx *bolt.Tx) error {
		version = int64(tx.Bucket(recordsBucket).Sequence()) //nolint:gosec // it counts changes
		return tx.Bucket(recordsBucket).ForEach(func(name, data []byte) error {
			if record, err := parseRecord(data); err == nil && ValidName(string(name)) {
				records[string(name)] = record
			} else {
				f.logger.LogAttrs(context.Background(), slog.LevelError, "schema store: a record that cannot be read is left out")
			}
			return nil
		})
	})
	if err != nil {
		f.logger.LogAttrs(context.Background(), slog.LevelError, "schema store cannot be read", slog.String("path", f.path), slog.String("error", err.Error()))
		return false
	}
	f.follower = follower
	follower.Reset(records, version)
	follower.Reachable(true)
	return true
}

// versionBytes is how many bytes of a record are its version.
const versionBytes = 8

// parseRecord reads a record with its version. It copies.
func parseRecord(data []byte) (Record, error) {
	if len(data) < versionBytes {
		return Record{}, errRecord
	}
	return decodeRecord(data[versionBytes:], int64(binary.BigEndian.Uint64(data))) //nolint:gosec // it counts changes
}

// Record returns what there is of a schema.
func (f *File) Record(_ context.Context, name string) (record Record, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err = f.view(func(tx *bolt.Tx) error {
		record, err = recordOf(tx, name)
		return err
	})
	if err != nil {
		return Record{}, unavailable("%s", cause(err))
	}
	return record, nil
}

// recordOf reads the record of a schema, whose zero is that of none.
func recordOf(tx *bolt.Tx, name string) (Record, error) {
	data := tx.Bucket(recordsBucket).Get([]byte(name))
	if data == nil {
		return Record{}, nil
	}
	return parseRecord(data)
}

// Sources returns the files of a revision; ok is false where there is no such.
func (f *File) Sources(_ context.Context, name, revision string) (sources Sources, ok bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err = f.view(func(tx *bolt.Tx) error {
		data := tx.Bucket(sourcesBucket).Get(sourcesKey(name, revision))
		if data == nil {
			return nil
		}
		ok = true
		sources, err = decodeSources(data)
		return err
	})
	var damaged *fault.Error
	switch {
	case errors.As(err, &damaged):
		return Sources{}, false, err
	case err != nil:
		return Sources{}, false, unavailable("%s", cause(err))
	}
	return sources, ok, nil
}

// sourcesKey is the key of the sources of a revision. Names have no "@".
func sourcesKey(name, revision string) []byte { return []byte(name + "@" + revision) }

// Swap replaces the record of a schema by another, if it still is from, and with it puts the sources of the newest revision where
// they are given, and removes those of revisions that to does not have. It returns the record that there is now, and whether that is to.
func (f *File) Swap(ctx context.Context, name string, from, to Record, put *Sources) (current Record, swapped bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return Record{}, false, unavailable("it is closed")
	}
	if f.db == nil {
		if err := f.create(); err != nil {
			return Record{}, false, f.broken(ctx, err)
		}
	}
	err = f.update(func(tx *bolt.Tx) error {
		current, err = recordOf(tx, name)
		if err != nil || current.Version != from.Version {
			return err
		}
		swapped = true
		current, err = write(tx, name, current, to, put)
		return err
	})
	if err != nil {
		return Record{}, false, f.broken(ctx, err)
	}
	if swapped && f.follower != nil {
		f.follower.Changed(name, current)
	}
	return current, swapped, nil
}

// broken is the error of a change that failed. The log has the path.
func (f *File) broken(ctx context.Context, err error) error {
	f.logger.LogAttrs(ctx, slog.LevelError, "schema store cannot be written", slog.String("path", f.path), slog.String("error", err.Error()))
	return unavailable("%s", cause(err))
}

// write does the work of Swap, and returns the record with its version.
func write(tx *bolt.Tx, name string, from, to Record, put *Sources) (Record, error) {
	records, sources := tx.Bucket(recordsBucket), tx.Bucket(sourcesBucket)
	version, err := records.NextSequence()
	if err != nil {
		return Record{}, err
	}
	to.Version = int64(version) //nolint:gosec // it counts changes
	plan := planSwap(&from, &to, put)
	if plan.all {
		for _, revision := range from.Revisions {
			plan.removed = append(plan.removed, revision.ID)
		}
		if err := records.Delete([]byte(name)); err != nil {
			return Record{}, err
		}
	} else {
		text, err := encodeRecord(&to)
		if err != nil {
			return Record{}, err
		}
		if err := records.Put([]byte(name), append(binary.BigEndian.AppendUint64(nil, version), text...)); err != nil {
			return Record{}, err
		}
	}
	if plan.put != "" {
		data, err := encodeSources(put)
		if err != nil {
			return Record{}, err
		}
		if err := sources.Put(sourcesKey(name, plan.put), data); err != nil {
			return Record{}, err
		}
	}
	for _, revision := range plan.removed {
		if err := sources.Delete(sourcesKey(name, revision)); err != nil {
			return Record{}, err
		}
	}
	return to, nil
}

// Close lets go of the file.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.db == nil || f.stuck {
		return nil // what is stuck is given back when the process ends
	}
	err := f.db.Close()
	f.db = nil
	return err
}
