package store

import (
	"fmt"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

var errDamaged = fmt.Errorf("assertion: %w", bolterrors.ErrInvalid)

// guard makes an error of a panic: bbolt asserts what it reads. It reads the file as memory, so damage can also lead it outside of
// that, or to pages that the file has no longer. Without asking for it, such a fault of the memory would be no panic but the end of
// the process.
func guard(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // of this goroutine
	defer func() {
		if recover() != nil {
			err = errDamaged
		}
	}()
	return do()
}

// view reads the file, if there is one. The caller holds f.mu.
func (f *File) view(read func(*bolt.Tx) error) error {
	switch {
	case f.db == nil:
		return nil
	case f.stuck:
		return errDamaged
	}
	begun, ended := false, false
	err := guard(func() error {
		err := f.db.View(func(tx *bolt.Tx) error {
			begun = true
			return read(tx)
		})
		ended = true
		return err
	})
	// To end reading reads nothing, so one that had begun has let go of its locks: the rest of the file can still be served.
	f.stuck = !begun && !ended
	return err
}

// update changes the file, which exists. The caller holds f.mu.
func (f *File) update(change func(*bolt.Tx) error) error {
	if f.stuck {
		return errDamaged
	}
	ended := false
	err := guard(func() error {
		err := f.db.Update(change)
		ended = true
		return err
	})
	// To take a change back reads the file, and where that fails, the lock is kept.
	f.stuck = !ended
	return err
}
