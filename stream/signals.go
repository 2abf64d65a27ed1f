package stream

import (
	"cmp"
	"context"
	"os"
	"os/signal"
	"slices"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/internal/process"
)

// defaultSignalGrace is shorter than the graces of [CommandOptions], because the sender of the
// signal waits for this program to end.
const defaultSignalGrace = 2 * time.Second

// SignalOptions configure [EndOnSignal], which copies them. The zero value selects the
// defaults.
type SignalOptions struct {
	// Interrupt is called for each SIGINT (Ctrl-C). It reports whether the program
	// handles the signal, for example by cancelling a turn; if it returns false, the
	// signal ends the program. Interrupt must not block. If it is nil, each SIGINT
	// ends the program.
	Interrupt func() bool

	// Before, if not nil, is called before any process is asked to end, for example to settle
	// what the program is doing. Its ctx is done after Grace, and with a second signal. Its
	// error is ignored.
	Before func(ctx context.Context) error

	// Grace is how long processes may take to end after they were asked to, before
	// they are killed. 0 means 2 s, a negative value no time at all.
	Grace time.Duration
}

// EndOnSignal makes sure that a signal that ends this program also ends all processes
// that it started: those of [Command] and the commands of package client/terminals,
// each with its process group. Call it first in main:
//
//	stream.EndOnSignal(nil)
//
// Without EndOnSignal such processes outlive the program: they run in process groups
// of their own, which do not receive the signals of the terminal.
//
// On SIGTERM, SIGHUP, SIGINT and SIGQUIT it asks all process groups to end, kills what is
// left after Grace, and ends the program by the same signal; a second signal shortens
// Grace. On SIGQUIT the Go runtime prints all goroutines as it does without EndOnSignal. As
// with any program that a signal ends, deferred calls do not run. After the signal no
// process can be started, and the end of a process is not reported, so that main cannot
// exit before all groups have ended. A signal that was ignored when the program started,
// such as SIGHUP under nohup, stays ignored.
//
// The function that EndOnSignal returns stops it; signals then have their default
// effect.
func EndOnSignal(opts *SignalOptions) (stop func()) {
	o := *cmp.Or(opts, new(SignalOptions))
	if o.Grace == 0 {
		o.Grace = defaultSignalGrace
	}
	watched := slices.DeleteFunc(slices.Clone(endingSignals), signal.Ignored)
	if len(watched) == 0 { // Notify without signals would watch all of them
		return func() {}
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, watched...)
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(ended)
		o.watch(signals, quit)
	}()
	return sync.OnceFunc(func() {
		signal.Stop(signals)
		close(quit)
		<-ended
	})
}

// watch returns when quit is closed. It does not return when a signal ends the program.
func (o *SignalOptions) watch(signals <-chan os.Signal, quit <-chan struct{}) {
	for {
		select {
		case sig := <-signals:
			if sig == os.Interrupt && o.Interrupt != nil && o.Interrupt() {
				continue
			}
			hurry := make(chan struct{})
			go func() { // ends with the program
				<-signals
				close(hurry)
			}()
			o.settle(hurry)
			process.EndAll(o.Grace, hurry)
			endBy(sig)
		case <-quit:
			return
		}
	}
}

// settle calls Before, and waits for it no longer than its ctx lives.
func (o *SignalOptions) settle(hurry <-chan struct{}) {
	if o.Before == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), max(o.Grace, 0))
	defer cancel()
	done := make(chan struct{})
	go func() { // ends with Before, or with the program
		defer close(done)
		_ = o.Before(ctx) // the program ends in every case
	}()
	select {
	case <-done:
	case <-hurry:
	case <-ctx.Done():
	}
}
