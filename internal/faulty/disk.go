// Package faulty has stores of sessions that fail, for tests.
package faulty

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/acpkit/go-sdk/agent/journal"
)

// Disk is a store whose logs are slow, full or broken. It counts those that are open.
type Disk struct {
	journal.Store
	Slow   time.Duration // the duration of an fsync
	Room   atomic.Int64  // number of calls of Append that will still succeed
	Broken string        // the method that fails: append or sync
	Logs   atomic.Int64  // number of open logs
}

// NewDisk returns a disk with room for every record.
func NewDisk() *Disk {
	d := &Disk{Store: new(journal.Memory)}
	d.Room.Store(1 << 40)
	return d
}

type diskLog struct {
	journal.Log
	d     *Disk
	close func() // called once
}

func (d *Disk) opened(l journal.Log, err error) (journal.Log, error) {
	if err != nil {
		return nil, err
	}
	d.Logs.Add(1)
	return diskLog{l, d, sync.OnceFunc(func() { d.Logs.Add(-1) })}, nil
}

func (d *Disk) Create(ctx context.Context, id string, m journal.Meta) (journal.Log, error) {
	return d.opened(d.Store.Create(ctx, id, m))
}

func (d *Disk) Open(ctx context.Context, id string) (journal.Log, error) {
	return d.opened(d.Store.Open(ctx, id))
}

func (l diskLog) Append(recs ...journal.Record) (int64, error) {
	if l.d.Broken == "append" {
		return 0, errors.New("disk broken")
	}
	if l.d.Room.Add(-1) < 0 {
		return 0, &fs.PathError{Op: "write", Path: "/sessions/log.jsonl", Err: syscall.ENOSPC}
	}
	return l.Log.Append(recs...)
}

func (l diskLog) Sync(ctx context.Context) error {
	if l.d.Broken == "sync" {
		return errors.New("disk broken")
	}
	time.Sleep(l.d.Slow)
	return l.Log.Sync(ctx)
}

func (l diskLog) SetMeta(change func(*journal.Meta)) error {
	time.Sleep(l.d.Slow)
	return l.Log.SetMeta(change)
}

func (l diskLog) Close() error {
	l.close()
	return l.Log.Close()
}
