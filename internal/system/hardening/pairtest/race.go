//go:build race

package pairtest

// Race tells that the race detector is on: everything takes about ten times as long.
const Race = true
