// Package hardening holds tests of both ends of a connection against peers that mean
// harm, or that do what the protocol's text does not foresee: broken bytes, messages
// without end, floods of everything that an end has to remember, secrets that must
// not come out, and the habits of programs in use. It has no code of its own.
//
// The tests use what users use: an agent or a client over stream.Lines, whose other
// side is played byte by byte.
package hardening
