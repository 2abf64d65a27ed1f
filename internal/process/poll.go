//go:build unix || windows

package process

import "time"

// poll waits until a group is no longer alive, and reports false if the deadline is
// earlier. The system does not report the end of a grandchild.
func poll(alive func() bool, deadline time.Time) bool {
	for pause := time.Millisecond; alive(); pause = min(2*pause, 50*time.Millisecond) {
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		time.Sleep(min(pause, left))
	}
	return true
}
