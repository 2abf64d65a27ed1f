//go:build race

package hardening_test

// raceEnabled makes the tests that count in gigabytes count in less.
const raceEnabled = true
