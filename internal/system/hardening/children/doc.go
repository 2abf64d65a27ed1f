// Package children holds tests of clients whose agents are processes that mean harm, or
// that do what programs in use do: behind a shell, noisy, deaf to signals, stopped, dead
// too early. It has no code of its own.
package children
