package streamtest

import (
	"sync"
	"testing"
	"time"

	"github.com/acpkit/go-sdk/stream"
)

// hasten calls Features.Hasten at all times: while messages arrive one after the other, while none
// arrives, and when Read is interrupted.
func hasten(t *testing.T, a, b stream.Stream) {
	hasten := stream.FeaturesOf(b).Hasten
	if hasten == nil {
		t.Skip("the stream has no Hasten: it is optional")
	}
	over, told := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { // ends with stop
		for {
			select {
			case <-over:
				return
			case <-time.After(50 * time.Microsecond):
				hasten()
			}
			select {
			case told <- struct{}{}:
			default:
			}
		}
	})
	stop := sync.OnceFunc(func() { close(over); wg.Wait() })
	defer stop()
	sent := start(func() error {
		for i := range 20 {
			for range i % 5 * 10 { // pauses in which no message arrives
				select {
				case <-told:
				case <-over:
				}
			}
			if err := a.Write(message(i, i)); err != nil {
				return err
			}
		}
		return writeSome(a)
	})
	for i := range 20 {
		expect(t, b, message(i, i))
	}
	for _, want := range someMessages {
		expect(t, b, want)
	}
	wait(t, sent, "writing")
	stop()
	interruptRead(t, a, b)
	hasten()
}
