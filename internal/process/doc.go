// Package process starts commands in process groups of their own and ends whole
// groups: the command with everything that it started and that stayed in its group. A
// group is a process group on Unix and a job object on Windows; on other systems it is
// the process alone.
//
// The package keeps a list of the groups of this program, so that a program that was
// asked to end can end them first; see [EndAll].
package process
