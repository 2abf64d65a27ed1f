package main

import (
	"fmt"
	"sync"
	"time"
)

// patience is how long the program waits before it says what for, and often how often it
// says so again.
var patience, often = 2 * time.Second, 10 * time.Second

// waiting says what the program waits for, with say, if that takes long. Call stop when it
// no longer waits.
func waiting(say func(string), what func() string) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	start := time.Now()
	go func() { // ends with stop
		defer close(ended)
		timer := time.NewTimer(patience)
		defer timer.Stop()
		for {
			select {
			case <-timer.C:
				line := "waiting for " + what()
				if waited := time.Since(start); waited >= often {
					line += fmt.Sprintf(" (%d s)", int(waited.Seconds()))
				}
				say(line)
				timer.Reset(often)
			case <-quit:
				return
			}
		}
	}()
	return sync.OnceFunc(func() { close(quit); <-ended })
}
